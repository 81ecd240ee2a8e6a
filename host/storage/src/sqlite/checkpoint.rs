//! Checkpoints of the write-ahead log (WAL): they copy its pages into the database file.
//!
//! By default SQLite checkpoints inside the COMMIT that makes the WAL long, from a thousand pages on. Here a checkpoint
//! runs after the transactions of the group have their answers, and later, because a page that many writes change is
//! then copied once.

use rusqlite::{Connection, hooks::Wal};
use std::{cell::Cell, ffi::c_int};

/// 16 MiB.
const WAL_PAGES_MAX: c_int = 4096;

thread_local! {
    /// Length of the WAL after the last COMMIT of this thread: only the writer thread commits.
    static WAL_PAGES: Cell<c_int> = const { Cell::new(0) };
}

/// Installed as SQLite's hook for commits.
pub(crate) fn record_wal_pages(_: &Wal, pages: c_int) -> rusqlite::Result<()> {
    WAL_PAGES.set(pages);
    Ok(())
}

/// Checkpoints a long WAL, as far as readers allow. It must not be called between BEGIN and COMMIT.
pub(crate) fn checkpoint_if_long(connection: &Connection) {
    if WAL_PAGES.replace(0) < WAL_PAGES_MAX {
        return;
    }
    let result = connection
        .prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")
        .and_then(|mut checkpoint| checkpoint.query_row([], |_| Ok(())));
    if let Err(error) = result {
        // The WAL grows further, and the next commit tries again.
        tracing::warn!(%error, "the WAL cannot be checkpointed");
    }
}
