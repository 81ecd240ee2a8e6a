//! Private copies of plugin libraries, named by their content.
//!
//! The rule: only a copy is ever mapped. Overwriting a mapped file kills the process, and a second `dlopen` of the
//! same file returns the old code; a build may overwrite its output at any time.

use super::inspect::{Inspection, read_file, sha256_hex};
use super::load::LoadError;
use std::{
    fs::{self, DirBuilder, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

const FOLDER: &str = "run/plugins";
const HASH_DIGITS: usize = 64;

/// The private copy of the inspected content below `data_dir`: the one that is there, when it is intact, else a new one.
pub(super) fn private_copy(inspection: &Inspection, data_dir: &Path) -> Result<PathBuf, LoadError> {
    let folder = data_dir.join(FOLDER);
    let copy = folder.join(format!("{}-{}.so", inspection.sha256, inspection.name));
    if !is_intact(&copy, &inspection.sha256) {
        let content = read_file(&inspection.path).map_err(|problem| LoadError::Gone { problem })?;
        if sha256_hex(&content) != inspection.sha256 {
            return Err(LoadError::Changed);
        }
        let failed = |source| LoadError::Copy { folder: folder.clone(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
        write_whole(&copy, &content).map_err(failed)?;
        remove_older(&folder, &copy, &inspection.name);
    }
    copy.canonicalize().map_err(|source| LoadError::Copy { folder, source })
}

fn is_intact(copy: &Path, sha256: &str) -> bool {
    read_file(copy).is_ok_and(|content| sha256_hex(&content) == sha256)
}

/// Nobody sees a half-written copy: it gets its name when it is complete and read-only.
fn write_whole(copy: &Path, content: &[u8]) -> io::Result<()> {
    let unfinished = copy.with_extension(format!("tmp{}", std::process::id()));
    // What a process with our number left behind when it died.
    let _ = fs::remove_file(&unfinished);
    let written = write_new(&unfinished, content).and_then(|()| fs::rename(&unfinished, copy));
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    written
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)?;
    file.set_permissions(Permissions::from_mode(0o500))
}

/// Copies of other builds of this plugin: whoever has one mapped keeps it, the name is not needed any more.
fn remove_older(folder: &Path, current: &Path, name: &str) {
    let suffix = format!("-{name}.so");
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let file_name = entry.file_name();
        let hash = file_name.to_str().and_then(|file_name| file_name.strip_suffix(&suffix));
        if hash.is_some_and(|hash| hash.len() == HASH_DIGITS) && path != current {
            let removed = fs::remove_file(&path);
            tracing::debug!(file = %path.display(), ok = removed.is_ok(), "removes an older copy of the plugin");
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn inspection(path: &Path, content: &[u8]) -> Inspection {
        Inspection {
            path: path.to_owned(),
            name: "forum".into(),
            version: "1.0.0".into(),
            abi: (1, 0),
            sha256: sha256_hex(content),
            bytes: content.len() as u64,
        }
    }

    #[test]
    fn a_copy_is_private_reused_and_repaired() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("libforum.so");
        fs::write(&source, "first build").unwrap();
        let first = inspection(&source, b"first build");
        let copy = private_copy(&first, dir.path()).unwrap();
        assert!(copy.ends_with(format!("run/plugins/{}-forum.so", first.sha256)), "{}", copy.display());
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o500);
        assert_eq!(fs::metadata(copy.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);

        // The source is gone: the copy serves again.
        fs::remove_file(&source).unwrap();
        assert_eq!(private_copy(&first, dir.path()).unwrap(), copy);

        // The copy is damaged: it is made again from the source.
        fs::remove_file(&copy).unwrap();
        fs::write(&copy, "first bui").unwrap();
        assert!(matches!(private_copy(&first, dir.path()), Err(LoadError::Gone { .. })));
        fs::write(&source, "first build").unwrap();
        assert_eq!(fs::read(private_copy(&first, dir.path()).unwrap()).unwrap(), b"first build");
    }

    #[test]
    fn a_new_build_replaces_the_copy_of_the_old_one_only() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("libforum.so");
        fs::write(&source, "first build").unwrap();
        let old = private_copy(&inspection(&source, b"first build"), dir.path()).unwrap();
        let other = old.with_file_name(format!("{}-my_forum.so", "0".repeat(64)));
        fs::write(&other, "another plugin").unwrap();
        fs::write(&source, "second build").unwrap();
        let new = private_copy(&inspection(&source, b"second build"), dir.path()).unwrap();
        assert!(new.exists() && other.exists() && !old.exists());
    }

    #[test]
    fn a_file_that_changed_since_its_inspection_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("libforum.so");
        fs::write(&source, "while it is being built").unwrap();
        let refused = private_copy(&inspection(&source, b"as inspected"), dir.path());
        assert!(matches!(refused, Err(LoadError::Changed)), "{refused:?}");
        assert!(!dir.path().join(FOLDER).exists());
    }
}
