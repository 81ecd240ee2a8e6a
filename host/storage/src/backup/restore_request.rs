//! What to restore, and what was restored.

use super::error::BackupError;
use crate::{
    dialect::Dialect,
    migrations::{AppliedMigration, MigrationSet, check_applied},
    settings::DatabaseSettings,
};
use std::path::Path;

pub struct RestoreRequest<'a> {
    pub settings: &'a DatabaseSettings,
    pub file: &'a Path,
    /// Replace a database that contains data.
    pub overwrite: bool,
    /// Suffix of the name under which the old data is kept.
    pub label: &'a str,
    /// The time of the restore, which the new database records, in Unix milliseconds.
    pub now_ms: i64,
    /// The migrations of the gateway and of all its plugins.
    pub schemas: &'a [MigrationSet<'a>],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreReport {
    /// Where the old data is: a file or a schema.
    pub old_data: Option<String>,
    /// Plugins with data in the backup that this gateway does not have.
    pub unknown_plugins: Vec<String>,
    /// Whether a manifest was beside the backup, with which it was compared.
    pub has_manifest: bool,
}

impl RestoreRequest<'_> {
    pub(super) fn not_a_backup(&self, reason: impl Into<String>) -> BackupError {
        BackupError::NotABackup { path: self.file.to_owned(), reason: reason.into() }
    }

    /// Refuses a backup that a later version has written. Returns the plugins that this gateway does not have.
    pub(super) fn check_applied(
        &self,
        applied: &[AppliedMigration],
        dialect: Dialect,
    ) -> Result<Vec<String>, BackupError> {
        check_applied(self.schemas, applied, dialect).map_err(BackupError::Newer)
    }
}
