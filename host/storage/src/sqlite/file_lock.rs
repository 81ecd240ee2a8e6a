//! A lock on a SQLite file: shared by all processes that have the file open, or exclusive for a restore.
//!
//! The rule: the lock is on a separate file beside the database, never on the database itself. Closing that file would
//! release the locks that SQLite holds on it in this process. The operating system releases the lock when the process
//! ends.

use crate::error::StorageError;
use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown},
    path::Path,
};

#[derive(Debug)]
pub(crate) struct DatabaseFileLock {
    _file: File,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    #[error("it is in use")]
    InUse,
    #[error("its lock cannot be taken: {0}")]
    Failed(io::Error),
}

impl DatabaseFileLock {
    /// For a process that opens the database.
    pub(crate) fn shared(database: &Path) -> Result<Self, StorageError> {
        Self::acquire(database, File::try_lock_shared).map_err(|error| match error {
            LockError::InUse => StorageError::Unavailable("it is being restored".into()),
            LockError::Failed(_) => StorageError::Unavailable(format!("{}: {error}", database.display())),
        })
    }

    /// For a process that replaces the database: while it is held no other process opens the database.
    pub(crate) fn exclusive(database: &Path) -> Result<Self, LockError> {
        Self::acquire(database, File::try_lock)
    }

    fn acquire(database: &Path, lock: fn(&File) -> Result<(), TryLockError>) -> Result<Self, LockError> {
        let file = open_lock_file(database, "lock").map_err(LockError::Failed)?;
        match lock(&file) {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(LockError::InUse),
            Err(TryLockError::Error(error)) => Err(LockError::Failed(error)),
        }
    }
}

/// Opens the file beside the database that a lock is on, and creates it if it is missing.
pub(super) fn open_lock_file(database: &Path, extension: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true).mode(0o600);
    let file = options.open(database.with_added_extension(extension))?;
    give_to_owner_of(database, &file);
    Ok(file)
}

/// Gives a file beside or in place of a database to the owner of the database, as SQLite does with its own files.
/// Otherwise a command run as root would lock the gateway out.
pub(crate) fn give_to_owner_of(database: &Path, file: &File) {
    let owner = database.metadata().or_else(|_absent| database.parent().unwrap_or(Path::new(".")).metadata());
    if let Ok(owner) = owner {
        // Only root can do this, and only root has to.
        let _ = fchown(file, Some(owner.uid()), Some(owner.gid()));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn many_share_it_or_one_has_it_exclusively() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("gateway.db");
        let users = (DatabaseFileLock::shared(&database).unwrap(), DatabaseFileLock::shared(&database).unwrap());
        assert!(matches!(DatabaseFileLock::exclusive(&database), Err(LockError::InUse)));
        drop(users);
        let alone = DatabaseFileLock::exclusive(&database).unwrap();
        assert!(DatabaseFileLock::shared(&database).unwrap_err().to_string().contains("being restored"));
        drop(alone);
        DatabaseFileLock::shared(&database).unwrap();
    }
}
