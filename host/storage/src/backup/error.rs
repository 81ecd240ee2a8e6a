//! The errors of backups and restores, for the operator.

use crate::error::StorageError;
use std::{
    io,
    path::{Path, PathBuf},
};

/// Why no backup was made, or why nothing was restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{} exists already: choose another name, or overwrite it with --force", .0.display())]
    Exists(PathBuf),
    #[error("{} cannot be written: {reason}", path.display())]
    Target { path: PathBuf, reason: String },
    #[error("{} cannot be read: {source}", path.display())]
    Source { path: PathBuf, source: io::Error },
    #[error("{} is no backup of a gateway: {reason}", path.display())]
    NotABackup { path: PathBuf, reason: String },
    #[error("the backup is of {backup}, and database.url names {database}: a backup goes back into the same kind")]
    OtherDialect { backup: &'static str, database: &'static str },
    #[error("the backup cannot be used by this gateway: {0}: restore it with the version that made it, or a later one")]
    Newer(StorageError),
    #[error("a gateway (or another command) uses the database: stop it first")]
    InUse,
    #[error("there is data in the database already: --force replaces it and keeps the old beside")]
    HasData,
    #[error("{program} is needed and was not found: install the package postgresql-client, not older than the server")]
    NoProgram { program: &'static str },
    #[error("{program} failed: {reason}")]
    Program { program: &'static str, reason: String },
    #[error(transparent)]
    Database(#[from] StorageError),
}

impl BackupError {
    /// Whether the cause is the database and not the file.
    pub fn is_about_database(&self) -> bool {
        matches!(self, Self::Newer(_) | Self::InUse | Self::HasData | Self::Program { .. } | Self::Database(_))
    }

    pub(super) fn target(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self::Target { path: path.to_owned(), reason: reason.to_string() }
    }
}
