//! Files that are replaced as a whole: whoever opens one finds the old content or the new one.

use std::{
    fs::{self, File, Permissions},
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};
use tempfile::NamedTempFile;

const PREFIX: &str = ".gateway-";
const SUFFIX: &str = ".unfinished";

/// Replaces a file, or makes it. `mode` is that of a new file, less what the umask takes away. After a power failure the file may be
/// damaged: for what can be made anew.
pub fn replace_file(target: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    rename(write_unfinished(target, content, mode)?, target)
}

/// As [`replace_file`]; when it has returned, a power failure leaves the new content, and before that one of both.
pub fn replace_file_durably(target: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let file = write_unfinished(target, content, mode)?;
    file.as_file().sync_all()?;
    rename(file, target)?;
    sync_folder_of(target)
}

/// Removes the temporary files of killed processes beside the target. No other process may be writing in the folder.
pub fn remove_unfinished(target: &Path) {
    for entry in fs::read_dir(folder_of(target)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_unfinished = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.contains(SUFFIX));
        if is_unfinished && let Err(error) = fs::remove_file(entry.path()) {
            tracing::warn!(%error, path = %entry.path().display(), "what a killed process left cannot be removed");
        }
    }
}

fn write_unfinished(target: &Path, content: &[u8], mode: u32) -> io::Result<NamedTempFile> {
    let mut file = unfinished_file(target, mode)?;
    file.write_all(content)?;
    Ok(file)
}

fn rename(file: NamedTempFile, target: &Path) -> io::Result<()> {
    file.persist(target).map(drop).map_err(|failed| failed.error)
}

/// A temporary file, which is deleted when it is dropped without a new name. In the same folder: a rename is atomic only there.
pub(crate) fn unfinished_file(target: &Path, mode: u32) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX).permissions(Permissions::from_mode(mode));
    builder.tempfile_in(folder_of(target))
}

/// Makes the names in the folder of `path` durable.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::{io::Read as _, os::unix::fs::MetadataExt as _};

    #[test]
    fn a_reader_keeps_the_old_content_and_nothing_temporary_stays() {
        for replace in [replace_file, replace_file_durably] {
            let folder = tempfile::tempdir().unwrap();
            let target = folder.path().join("names.json");
            replace(&target, b"old", 0o640).unwrap();
            let mut reader = File::open(&target).unwrap();
            replace(&target, b"new", 0o400).unwrap();
            let mut seen = String::new();
            reader.read_to_string(&mut seen).unwrap();
            assert_eq!((seen.as_str(), fs::read(&target).unwrap().as_slice()), ("old", &b"new"[..]));
            assert_eq!(fs::metadata(&target).unwrap().mode() & 0o777, 0o400, "of the new file");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_replacement_that_fails_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("taken");
        fs::create_dir(&target).unwrap();
        replace_file(&target, b"new", 0o600).unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_a_killed_process_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("names.json");
        let (_, left) = unfinished_file(&target, 0o600).unwrap().keep().unwrap();
        replace_file(&target, b"new", 0o600).unwrap();
        remove_unfinished(&target);
        assert!(!left.exists() && target.exists());
    }
}
