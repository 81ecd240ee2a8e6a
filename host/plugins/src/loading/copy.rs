//! Private copies of plugin libraries, named by their content.
//!
//! The rules: only a copy is ever mapped, because overwriting a mapped file kills the process, and a second `dlopen` of the
//! same file returns the old code; a build may overwrite its output at any time. What is mapped is the open file whose owner,
//! mode and content were checked, not whatever its path names a moment later.

use super::inspect::PluginFile;
use super::load_error::LoadError;
use gateway_storage::replace_file;
use nix::unistd::geteuid;
use std::{
    fs::{self, DirBuilder, File, Metadata, Permissions},
    io::{self, Read},
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

const FOLDER: &str = "run/plugins";
const HASH_DIGITS: usize = 64;
const FOLDER_MODE: u32 = 0o700;
const COPY_MODE: u32 = 0o500;
/// Write permission of group and others.
const OTHERS_WRITE: u32 = 0o022;

/// An open library that nobody but this process's user can change.
#[derive(Debug)]
pub(super) struct PrivateCopy {
    pub file: File,
    pub path: PathBuf,
}

/// The private copy of the inspected content below `data_dir`: the one that is there, when it is intact, else a new one.
pub(super) fn private_copy(file: &PluginFile, data_dir: &Path) -> Result<PrivateCopy, LoadError> {
    let PluginFile { inspection, content } = file;
    let folder = data_dir.join(FOLDER);
    let failed = |source| LoadError::Copy { folder: folder.clone(), source };
    make_private(&folder).map_err(failed)?;
    let path = folder.join(format!("{}-{}.so", inspection.sha256, inspection.name));
    let open = match open_checked(&path, content) {
        Ok(open) => open,
        Err(_) => {
            replace_file(&path, content, COPY_MODE).map_err(failed)?;
            remove_older(&folder, &path, &inspection.name);
            open_checked(&path, content).map_err(failed)?
        }
    };
    Ok(PrivateCopy { file: open, path: path.canonicalize().map_err(failed)? })
}

/// Creates the folder, or takes the permissions of group and others from the one that is there.
fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)?;
    let facts = fs::symlink_metadata(folder)?;
    if !facts.is_dir() {
        return Err(io::Error::other("it is a link, not a folder"));
    }
    check_owner(&facts)?;
    if facts.permissions().mode() & 0o777 != FOLDER_MODE {
        fs::set_permissions(folder, Permissions::from_mode(FOLDER_MODE))?;
    }
    Ok(())
}

/// Opens the file and checks, of what was opened, that only this user can write it and that it holds the content.
fn open_checked(path: &Path, content: &[u8]) -> io::Result<File> {
    let mut file = File::open(path)?;
    let facts = file.metadata()?;
    check_owner(&facts)?;
    if !facts.is_file() || facts.permissions().mode() & OTHERS_WRITE != 0 {
        return Err(io::Error::other("others may write it"));
    }
    let mut found = Vec::with_capacity(content.len());
    // One byte more than expected shows a longer file without reading it whole.
    Read::by_ref(&mut file).take(content.len() as u64 + 1).read_to_end(&mut found)?;
    if found == content { Ok(file) } else { Err(io::Error::other("it holds something else than was written")) }
}

fn check_owner(facts: &Metadata) -> io::Result<()> {
    if facts.uid() == geteuid().as_raw() { Ok(()) } else { Err(io::Error::other("it belongs to another user")) }
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
    use std::os::{
        fd::AsRawFd,
        unix::fs::{chown, symlink},
    };

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
        let copy = private_copy(&first, dir.path()).unwrap().path;
        assert!(copy.ends_with(format!("run/plugins/{}-forum.so", first.inspection.sha256)), "{}", copy.display());
        assert_eq!((mode(&copy), mode(copy.parent().unwrap())), (0o500, 0o700));
        let made = fs::metadata(&copy).unwrap().ino();

        assert_eq!(private_copy(&first, dir.path()).unwrap().path, copy);
        assert_eq!(fs::metadata(&copy).unwrap().ino(), made, "it is not written again");

        for damaged in ["first bui", "first duild", ""] {
            fs::remove_file(&copy).unwrap();
            fs::write(&copy, damaged).unwrap();
            assert_eq!(fs::read(private_copy(&first, dir.path()).unwrap().path).unwrap(), b"first build");
            assert_eq!(mode(&copy), 0o500);
        }
    }

    #[test]
    fn a_new_build_replaces_the_copy_of_the_old_one_only() {
        let dir = tempfile::tempdir().unwrap();
        let old = private_copy(&file("first build"), dir.path()).unwrap().path;
        let other = old.with_file_name(format!("{}-my_forum.so", "0".repeat(64)));
        fs::write(&other, "another plugin").unwrap();
        let new = private_copy(&file("second build"), dir.path()).unwrap().path;
        assert!(new.exists() && other.exists() && !old.exists());
    }

    fn read_open(copy: &PrivateCopy) -> Vec<u8> {
        fs::read(format!("/proc/self/fd/{}", copy.file.as_raw_fd())).unwrap()
    }

    #[test]
    fn what_takes_the_path_later_is_not_what_was_opened() {
        let dir = tempfile::tempdir().unwrap();
        let copy = private_copy(&file("first build"), dir.path()).unwrap();
        let other = copy.path.with_extension("other");
        fs::write(&other, "something else").unwrap();
        fs::rename(&other, &copy.path).unwrap();
        assert_eq!(read_open(&copy), b"first build");
    }

    #[test]
    fn a_folder_that_others_may_enter_is_closed_to_them() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(FOLDER);
        fs::create_dir_all(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        private_copy(&file("first build"), dir.path()).unwrap();
        assert_eq!(mode(&folder), 0o700);
    }

    #[test]
    fn a_copy_that_others_may_write_is_written_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = private_copy(&file("first build"), dir.path()).unwrap().path;
        fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
        let before = fs::metadata(&path).unwrap().ino();
        private_copy(&file("first build"), dir.path()).unwrap();
        assert_eq!(mode(&path), 0o500);
        assert_ne!(fs::metadata(&path).unwrap().ino(), before, "whoever holds it open writes into nothing");
    }

    #[test]
    fn a_link_in_place_of_the_folder_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("run")).unwrap();
        symlink(elsewhere.path(), dir.path().join(FOLDER)).unwrap();
        let error = private_copy(&file("first build"), dir.path()).unwrap_err().to_string();
        assert!(error.contains("it is a link, not a folder"), "{error}");
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }

    /// Only root can give a file away; elsewhere there is nothing to test.
    #[test]
    fn a_folder_of_another_user_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(FOLDER);
        fs::create_dir_all(&folder).unwrap();
        if chown(&folder, Some(65534), None).is_err() {
            return;
        }
        let error = private_copy(&file("first build"), dir.path()).unwrap_err().to_string();
        assert!(error.contains("it belongs to another user"), "{error}");
    }
}
