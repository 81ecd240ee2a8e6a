//! Private copies of plugin libraries, named by their content.
//!
//! The rule: only a copy is ever mapped. Overwriting a mapped file kills the process, and a second `dlopen` of the
//! same file returns the old code; a build may overwrite its output at any time.

use super::inspect::PluginFile;
use super::load_error::LoadError;
use std::{
    fs::{self, DirBuilder, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

const FOLDER: &str = "run/plugins";
const HASH_DIGITS: usize = 64;

/// The private copy of the inspected content below `data_dir`: the one that is there, when it is intact, else a new one.
pub(super) fn private_copy(file: &PluginFile, data_dir: &Path) -> Result<PathBuf, LoadError> {
    let PluginFile { inspection, content } = file;
    let folder = data_dir.join(FOLDER);
    let copy = folder.join(format!("{}-{}.so", inspection.sha256, inspection.name));
    if !fs::read(&copy).is_ok_and(|found| found == *content) {
        let failed = |source| LoadError::Copy { folder: folder.clone(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
        write_whole(&copy, content).map_err(failed)?;
        remove_older(&folder, &copy, &inspection.name);
    }
    copy.canonicalize().map_err(|source| LoadError::Copy { folder, source })
}

/// Renames a temporary file when it is complete and read-only, so that no process sees a half-written copy.
fn write_whole(copy: &Path, content: &[u8]) -> io::Result<()> {
    let unfinished = copy.with_extension(format!("tmp{}", std::process::id()));
    // Left behind by a process with the same id that was killed.
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

/// Removes the copies of other builds of this plugin. A process that has mapped one does not need its name any more.
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
    use super::super::inspect::Inspection;
    use super::*;
    use sha2::{Digest, Sha256};
    use std::os::unix::fs::MetadataExt;

    fn file(content: &str) -> PluginFile {
        let inspection = Inspection {
            path: "libforum.so".into(),
            name: "forum".into(),
            version: "1.0.0".into(),
            abi: (1, 0),
            sha256: hex::encode(Sha256::digest(content)),
            bytes: content.len() as u64,
        };
        PluginFile { inspection, content: content.into() }
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_copy_is_private_reused_and_repaired() {
        let dir = tempfile::tempdir().unwrap();
        let first = file("first build");
        let copy = private_copy(&first, dir.path()).unwrap();
        assert!(copy.ends_with(format!("run/plugins/{}-forum.so", first.inspection.sha256)), "{}", copy.display());
        assert_eq!((mode(&copy), mode(copy.parent().unwrap())), (0o500, 0o700));
        let made = fs::metadata(&copy).unwrap().ino();

        assert_eq!(private_copy(&first, dir.path()).unwrap(), copy);
        assert_eq!(fs::metadata(&copy).unwrap().ino(), made, "it is not written again");

        for damaged in ["first bui", "first duild", ""] {
            fs::remove_file(&copy).unwrap();
            fs::write(&copy, damaged).unwrap();
            assert_eq!(fs::read(private_copy(&first, dir.path()).unwrap()).unwrap(), b"first build");
            assert_eq!(mode(&copy), 0o500);
        }
    }

    #[test]
    fn a_new_build_replaces_the_copy_of_the_old_one_only() {
        let dir = tempfile::tempdir().unwrap();
        let old = private_copy(&file("first build"), dir.path()).unwrap();
        let other = old.with_file_name(format!("{}-my_forum.so", "0".repeat(64)));
        fs::write(&other, "another plugin").unwrap();
        let new = private_copy(&file("second build"), dir.path()).unwrap();
        assert!(new.exists() && other.exists() && !old.exists());
    }
}
