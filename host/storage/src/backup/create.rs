//! Makes a backup.

use super::{atomic_file::AtomicFile, error::BackupError, postgres, sqlite};
use crate::{engine::Engine, error::StorageError};
use std::path::Path;

/// Writes everything that was committed before the call into a new file. Returns its size in bytes.
pub async fn back_up(engine: &Engine, file: &Path, overwrite: bool) -> Result<u64, BackupError> {
    let backup = AtomicFile::new(file, overwrite)?;
    match engine {
        Engine::Sqlite(sqlite) => {
            let source = sqlite.path().to_owned();
            run_blocking(move || sqlite::copy(&source, &backup).and_then(|()| backup.persist())).await
        }
        Engine::Postgres(server) => {
            postgres::dump(server.url(), &backup).await?;
            run_blocking(move || backup.persist()).await
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
