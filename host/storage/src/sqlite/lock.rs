//! Who uses a SQLite file: everybody who has it open, or a restore alone.
//!
//! The lock is on a file of its own beside the database. On the database's own file it would be dangerous: closing it would
//! take away the locks that SQLite itself holds in this process. The system takes it back when the process ends.

use crate::StorageError;
use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown},
    path::Path,
};

#[derive(Debug)]
pub struct DataLock {
    _file: File,
}

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("it is in use")]
    Taken,
    #[error("its lock cannot be taken: {0}")]
    Failed(io::Error),
}

impl DataLock {
    /// For whoever opens the database.
    pub fn shared(database: &Path) -> Result<Self, StorageError> {
        let taken = Self::take(database, File::try_lock_shared);
        taken.map_err(|error| match error {
            LockError::Taken => StorageError::Unavailable("it is being restored".into()),
            LockError::Failed(_) => StorageError::Unavailable(format!("{}: {error}", database.display())),
        })
    }

    /// For who replaces the database: while it is held nobody else opens it.
    pub fn exclusive(database: &Path) -> Result<Self, LockError> {
        Self::take(database, File::try_lock)
    }

    fn take(database: &Path, lock: fn(&File) -> Result<(), TryLockError>) -> Result<Self, LockError> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600);
        let file = options.open(database.with_added_extension("lock")).map_err(LockError::Failed)?;
        give_to_owner_of(database, &file);
        match lock(&file) {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(LockError::Taken),
            Err(TryLockError::Error(error)) => Err(LockError::Failed(error)),
        }
    }
}

/// What root makes beside or in the place of a database belongs to whom the database belongs, as with SQLite's own files: a
/// command typed as root must not lock the gateway out.
pub fn give_to_owner_of(database: &Path, file: &File) {
    let owner = database.metadata().or_else(|_absent| database.parent().unwrap_or(Path::new(".")).metadata());
    if let Ok(owner) = owner {
        // Others than root cannot, and need not.
        let _ = fchown(file, Some(owner.uid()), Some(owner.gid()));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn many_use_it_or_one_replaces_it() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("gateway.db");
        let users = (DataLock::shared(&database).unwrap(), DataLock::shared(&database).unwrap());
        assert!(matches!(DataLock::exclusive(&database), Err(LockError::Taken)));
        drop(users);
        let alone = DataLock::exclusive(&database).unwrap();
        assert!(DataLock::shared(&database).unwrap_err().to_string().contains("being restored"));
        drop(alone);
        DataLock::shared(&database).unwrap();
    }
}
