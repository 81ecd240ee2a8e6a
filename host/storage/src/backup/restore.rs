//! Restores a backup.

use super::{
    error::BackupError,
    manifest, postgres,
    restore_request::{RestoreReport, RestoreRequest},
    sqlite,
};
use crate::dialect::Dialect;
use std::{fs::File, io::Read as _, path::Path};

/// Checks everything first, then replaces the database in one step.
pub async fn restore(request: &RestoreRequest<'_>) -> Result<RestoreReport, BackupError> {
    let database = request.settings.dialect()?;
    let backup = detect_dialect(request.file)?;
    if backup != database {
        return Err(BackupError::OtherDialect { backup: backup.name(), database: database.name() });
    }
    // It blocks, but the command that restores does nothing else.
    let has_manifest = manifest::verify(request.file)?;
    let restored = match database {
        Dialect::Sqlite => sqlite::restore(request),
        Dialect::Postgres => postgres::restore(request).await,
    };
    restored.map(|report| RestoreReport { has_manifest, ..report })
}

/// Detects the kind of backup by its first bytes.
fn detect_dialect(file: &Path) -> Result<Dialect, BackupError> {
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
