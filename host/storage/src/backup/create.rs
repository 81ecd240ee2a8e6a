//! Makes a backup.

use super::{
    atomic_file::AtomicFile,
    error::BackupError,
    manifest::{BackupManifest, BackupOrigin},
    postgres, sqlite,
};
use crate::{database::engine::Engine, dialect::Dialect, error::StorageError, migrations::AppliedMigration};
use std::path::Path;

/// Writes everything that was committed before the call into a new file, and its manifest beside it.
pub(crate) async fn back_up(
    engine: &Engine,
    file: &Path,
    overwrite: bool,
    origin: BackupOrigin<'_>,
) -> Result<BackupManifest, BackupError> {
    let backup = AtomicFile::new(file, overwrite)?;
    let (version, created_ms) = (origin.gateway_version.to_owned(), origin.created_ms);
    let finish = move |backup: AtomicFile, database: Dialect, applied: &[AppliedMigration]| {
        let origin = BackupOrigin { gateway_version: &version, created_ms };
        BackupManifest::new(&backup, database.name(), origin, applied)?.persist_with(backup)
    };
    match engine {
        Engine::Sqlite(sqlite) => {
            let source = sqlite.path().to_owned();
            let work =
                move || sqlite::copy(&source, &backup).and_then(|applied| finish(backup, Dialect::Sqlite, &applied));
            run_blocking(work).await
        }
        Engine::Postgres(server) => {
            let applied = postgres::dump(server.url(), &backup).await?;
            run_blocking(move || finish(backup, Dialect::Postgres, &applied)).await
        }
        #[cfg(feature = "simulation")]
        Engine::Simulated(_) => {
            Err(StorageError::Statement("the simulated PostgreSQL has no backup programs".to_owned()).into())
        }
    }
}

async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BackupError> + Send + 'static,
) -> Result<T, BackupError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(StorageError::Internal(format!("the copy ended badly: {error}")).into()))
}
