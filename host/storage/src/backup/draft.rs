//! A file that is there under its name when it is complete, and not before.

use super::BackupError;
use std::{
    fs::{self, File},
    io::ErrorKind,
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

const PREFIX: &str = ".gateway-";
const SUFFIX: &str = ".unfinished";

/// Dropped without `publish` it leaves nothing. Only its owner may read it.
pub struct Draft {
    file: NamedTempFile,
    target: PathBuf,
    overwrites: bool,
}

impl Draft {
    pub fn new(target: &Path, overwrites: bool) -> Result<Self, BackupError> {
        if target.is_dir() {
            return Err(failed(target, "it is a folder"));
        }
        if !overwrites && target.symlink_metadata().is_ok() {
            return Err(BackupError::Exists(target.to_owned()));
        }
        // In the same folder: only there a rename is one step.
        let file = tempfile::Builder::new()
            .prefix(PREFIX)
            .suffix(SUFFIX)
            .tempfile_in(folder(target))
            .map_err(|error| failed(target, why(&error)))?;
        Ok(Self { file, target: target.to_owned(), overwrites })
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// What stood in the way of writing it.
    pub fn failed(&self, reason: impl std::fmt::Display) -> BackupError {
        failed(&self.target, reason)
    }

    /// Puts it under its name once it is on the disk; answers its size in bytes.
    pub fn publish(self) -> Result<u64, BackupError> {
        let Self { file, target, overwrites } = self;
        let synced = file.as_file().sync_all().and_then(|()| file.as_file().metadata());
        let bytes = synced.map_err(|error| failed(&target, error))?.len();
        let renamed = if overwrites { file.persist(&target) } else { file.persist_noclobber(&target) };
        match renamed {
            Ok(_) => {}
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => return Err(BackupError::Exists(target)),
            Err(error) => return Err(failed(&target, error.error)),
        }
        sync_folder(&target)?;
        Ok(bytes)
    }
}

/// Removes what a killed process has left; for who knows that no other one writes there now.
pub fn clear_leftovers(target: &Path) {
    for entry in fs::read_dir(folder(target)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.contains(SUFFIX));
        if is_ours && let Err(error) = fs::remove_file(entry.path()) {
            tracing::warn!(%error, path = %entry.path().display(), "what a killed restore left cannot be removed");
        }
    }
}

/// Makes the names in the folder of `path` durable.
pub fn sync_folder(path: &Path) -> Result<(), BackupError> {
    File::open(folder(path)).and_then(|folder| folder.sync_all()).map_err(|error| failed(path, error))
}

pub fn failed(path: &Path, reason: impl std::fmt::Display) -> BackupError {
    BackupError::Target { path: path.to_owned(), reason: reason.to_string() }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn why(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "its folder does not exist".to_owned(),
        ErrorKind::PermissionDenied => "its folder may not be written by this user".to_owned(),
        // Without the name of the draft, which says nothing to an operator.
        _ => error.get_ref().map_or_else(|| error.to_string(), |_| error.kind().to_string()),
    }
}
