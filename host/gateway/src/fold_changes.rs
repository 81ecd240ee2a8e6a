//! Keeps a read of the versions of a shared database cheap: see `storage/src/versions.rs`.

use gateway_storage::{Database, Dialect};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const INTERVAL: Duration = Duration::from_secs(1);

/// Every gateway does this; those that do it at the same time share the work.
pub async fn run(database: Database, stop: CancellationToken) {
    if database.dialect() == Dialect::Sqlite {
        return;
    }
    let mut has_failed = false;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(INTERVAL) => {}
        }
        let folded = database.fold_changes().await;
        if let Err(error) = &folded
            && !has_failed
        {
            // One line for each time that the database is away.
            tracing::warn!(%error, "the rows of changes cannot be counted together now: cached responses get slower");
        }
        has_failed = folded.is_err();
    }
}
