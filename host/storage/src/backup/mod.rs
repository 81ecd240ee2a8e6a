//! A copy of the whole database as one file, and back.
//!
//! The rules: a backup is there complete and checked, or not at all. A restore ends with the new database or leaves the old
//! one, killed in the middle too. Nothing is overwritten unless asked for, and a database that is replaced is kept beside.
//!
//! The file is what the database's own tools know: a SQLite database, or an archive of `pg_dump`. Whoever backs up opens the
//! database beside the gateway that serves, with the same locks, and reads one snapshot: writers do not wait, the gateway
//! spends nothing, no path travels over HTTP, and it works the same when no gateway runs or when it hangs.

mod draft;
mod postgres;
mod programs;
mod sqlite;

use super::{AppliedMigration, Database, DatabaseSettings, Dialect, Engine, Schema, StorageError, migrate};
use draft::Draft;
use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// Why there is no backup, or why nothing was restored.
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
    /// Whether the database is the trouble, and not the file.
    pub fn is_about_database(&self) -> bool {
        matches!(self, Self::Newer(_) | Self::InUse | Self::HasData | Self::Program { .. } | Self::Database(_))
    }
}

/// What is to be restored, and where to.
pub struct Restore<'a> {
    pub settings: &'a DatabaseSettings,
    pub file: &'a Path,
    /// Replace a database that holds data.
    pub overwrites: bool,
    /// Ends the name under which the old data is kept.
    pub label: &'a str,
    /// Everything that this gateway can work with.
    pub known: &'a [Schema<'a>],
}

/// What a restore did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Where the old data is: a file or a schema.
    pub kept: Option<String>,
    /// Plugins with data in the backup that this gateway does not have.
    pub unknown_plugins: Vec<String>,
}

impl Database {
    /// Writes everything that was committed before the call into a new file; answers its size in bytes.
    pub async fn back_up(&self, file: &Path, overwrites: bool) -> Result<u64, BackupError> {
        let draft = Draft::new(file, overwrites)?;
        match &self.shared.engine {
            Engine::Sqlite(sqlite) => {
                let source = sqlite.path().to_owned();
                blocking(move || sqlite::copy(&source, &draft).and_then(|()| draft.publish())).await
            }
            Engine::Postgres(server) => {
                postgres::dump(server.url(), &draft).await?;
                blocking(move || draft.publish()).await
            }
        }
    }
}

impl Restore<'_> {
    /// Checks everything first, then replaces the database in one step.
    pub async fn run(&self) -> Result<Restored, BackupError> {
        let database = self.settings.dialect()?;
        let backup = recognise(self.file)?;
        if backup != database {
            return Err(BackupError::OtherDialect { backup: backup.name(), database: database.name() });
        }
        match database {
            // Only the operator waits for it: this is a command of its own.
            Dialect::Sqlite => sqlite::restore(self),
            Dialect::Postgres => postgres::restore(self).await,
        }
    }

    fn not_a_backup(&self, reason: impl Into<String>) -> BackupError {
        BackupError::NotABackup { path: self.file.to_owned(), reason: reason.into() }
    }

    /// Refuses what a later version has written; answers whose data nobody here knows.
    fn check_known(&self, applied: &[AppliedMigration], dialect: Dialect) -> Result<Vec<String>, BackupError> {
        migrate::check_known(self.known, applied, dialect).map_err(BackupError::Newer)
    }
}

/// By its first bytes.
fn recognise(file: &Path) -> Result<Dialect, BackupError> {
    let unreadable = |source| BackupError::Source { path: file.to_owned(), source };
    let mut head = Vec::new();
    File::open(file).and_then(|open| open.take(16).read_to_end(&mut head)).map_err(unreadable)?;
    if head.starts_with(b"SQLite format 3\0") {
        Ok(Dialect::Sqlite)
    } else if head.starts_with(b"PGDMP") {
        Ok(Dialect::Postgres)
    } else {
        let reason = "it is neither a SQLite database nor an archive of pg_dump".to_owned();
        Err(BackupError::NotABackup { path: file.to_owned(), reason })
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BackupError> + Send + 'static,
) -> Result<T, BackupError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(StorageError::Internal(format!("the copy ended badly: {error}")).into()))
}
