//! A file that gets its name only when it is complete and on the disk.

use super::error::BackupError;
use crate::replace_file::{sync_folder_of, unfinished_file};
use std::{
    fs::File,
    io::ErrorKind,
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

const OWNER_ONLY: u32 = 0o600;

/// A temporary file, which only its owner may read. It is deleted when dropped without [`Self::persist`].
pub(crate) struct AtomicFile {
    file: NamedTempFile,
    target: PathBuf,
    overwrite: bool,
}

impl AtomicFile {
    pub(crate) fn new(target: &Path, overwrite: bool) -> Result<Self, BackupError> {
        if target.is_dir() {
            return Err(BackupError::target(target, "it is a folder"));
        }
        if !overwrite && target.symlink_metadata().is_ok() {
            return Err(BackupError::Exists(target.to_owned()));
        }
        let file = unfinished_file(target, OWNER_ONLY).map_err(|error| BackupError::target(target, reason(&error)))?;
        Ok(Self { file, target: target.to_owned(), overwrite })
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// The name that it gets.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    pub(crate) fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// The error for a failed write.
    pub(crate) fn error(&self, reason: impl std::fmt::Display) -> BackupError {
        BackupError::target(&self.target, reason)
    }

    /// Syncs it to the disk, then gives it its name. Returns its size in bytes.
    pub(crate) fn persist(self) -> Result<u64, BackupError> {
        let Self { file, target, overwrite } = self;
        let synced = file.as_file().sync_all().and_then(|()| file.as_file().metadata());
        let bytes = synced.map_err(|error| BackupError::target(&target, error))?.len();
        let renamed = if overwrite { file.persist(&target) } else { file.persist_noclobber(&target) };
        match renamed {
            Ok(_) => {}
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => return Err(BackupError::Exists(target)),
            Err(error) => return Err(BackupError::target(&target, error.error)),
        }
        sync_folder(&target)?;
        Ok(bytes)
    }
}

/// Syncs the folder of `path`, which makes the names in it durable.
pub(crate) fn sync_folder(path: &Path) -> Result<(), BackupError> {
    sync_folder_of(path).map_err(|error| BackupError::target(path, error))
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "its folder does not exist".to_owned(),
        ErrorKind::PermissionDenied => "its folder may not be written by this user".to_owned(),
        // Without the name of the temporary file, which means nothing to an operator.
        _ => error.get_ref().map_or_else(|| error.to_string(), |_| error.kind().to_string()),
    }
}
