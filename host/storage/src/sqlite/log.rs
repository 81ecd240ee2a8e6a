//! The write-ahead log: when it is folded into the file.
//!
//! SQLite's own way is to do it inside of the COMMIT that makes the log long, and to begin at a thousand pages. Here it is
//! done after the members of the group were answered, and later, because a page that many writes change is then copied once.

use rusqlite::{Connection, hooks::Wal};
use std::{cell::Cell, ffi::c_int};

/// 16 MiB.
const PAGES_MAX: c_int = 4096;

thread_local! {
    /// As the last COMMIT of this thread left it: only the writer thread commits.
    static PAGES: Cell<c_int> = const { Cell::new(0) };
}

/// SQLite's hook for commits.
pub fn note_pages(_: &Wal, pages: c_int) -> rusqlite::Result<()> {
    PAGES.set(pages);
    Ok(())
}

/// Folds a long log into the file, as far as readers allow. Not between BEGIN and COMMIT.
pub fn fold_when_long(connection: &Connection) {
    if PAGES.replace(0) < PAGES_MAX {
        return;
    }
    let folded =
        connection.prepare_cached("PRAGMA wal_checkpoint(PASSIVE)").and_then(|mut fold| fold.query_row([], |_| Ok(())));
    if let Err(error) = folded {
        // The log goes on growing, and the next commit tries again.
        tracing::warn!(%error, "the log cannot be folded into the database file");
    }
}
