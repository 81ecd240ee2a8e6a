//! Short reads, run on the thread that asks: a hop to another thread and back costs more than most of them.
//!
//! The rule: a thread that serves requests is never held for long. Only statements whose last runs were short come
//! here; one that takes longer than [`LONGEST`] this time is stopped, and a reader thread runs it from the beginning. So
//! is one that meets a lock, or fails in any other way. Reading the schema may take longer, once after each of its changes.

use super::{connection::Guarded, execute::Call, watch::Cancelled};
use crate::check::Admitted;
use parking_lot::Mutex;
use plugin_api::abi::Rows;
use std::time::{Duration, Instant};

/// Looked at every thousand instructions of SQLite's machine.
const LONGEST: Duration = Duration::from_millis(1);

/// Connections that nobody uses right now; none when it is closed.
pub struct Inline {
    idle: Mutex<Option<Vec<Guarded>>>,
    /// Who asks cannot leave meanwhile.
    never: Cancelled,
}

impl Inline {
    pub fn new(connections: Vec<Guarded>) -> Self {
        Self { idle: Mutex::new(Some(connections)), never: Cancelled::default() }
    }

    /// The rows, or nothing: then it is the reader threads' to answer.
    pub fn read(&self, admitted: &Admitted) -> Option<Rows> {
        let pace = &admitted.plan.pace;
        if !pace.is_short() {
            return None;
        }
        let guarded = self.idle.lock().as_mut()?.pop()?;
        let begun = Instant::now();
        let outcome = Call::new(&guarded, &self.never).execute(admitted, begun + LONGEST);
        if outcome.is_ok() {
            pace.note(begun.elapsed());
        } else {
            pace.distrust();
            // Whatever is wrong with it, the next statement meets it, too.
            let _ = guarded.read_schema();
        }
        if let Some(idle) = self.idle.lock().as_mut() {
            idle.push(guarded);
        }
        outcome.ok().map(|outcome| outcome.rows)
    }

    /// Closes the connections; one that is at work closes when it is done.
    pub fn close(&self) {
        *self.idle.lock() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        super::check::{Checker, Purpose},
        connection,
    };
    use super::*;
    use crate::{Dialect, Scope};
    use plugin_api::sql;

    /// So many that reading the schema takes longer than a statement may.
    const TABLES: usize = 5000;
    const SHORT_RUNS: usize = 20;

    fn trusted(text: &'static str) -> Admitted {
        let admitted = Checker::new(Dialect::Sqlite).admit(&Scope::Host, sql(text).into(), Purpose::Read).unwrap();
        (0..SHORT_RUNS).for_each(|_| admitted.plan.pace.note(Duration::ZERO));
        admitted
    }

    #[test]
    fn a_schema_that_takes_long_to_read_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.db");
        let writer = rusqlite::Connection::open(&path).unwrap();
        writer.pragma_update(None, "journal_mode", "wal").unwrap();
        let create = |number| format!("CREATE TABLE t{number} (id INTEGER PRIMARY KEY, name TEXT);");
        let tables: String = (0..TABLES).map(create).collect();
        writer.execute_batch(&format!("BEGIN; {tables} COMMIT;")).unwrap();
        let inline = Inline::new(vec![connection::open_inline(&path).unwrap()]);
        for change in ["", "CREATE TABLE one_more (id INTEGER PRIMARY KEY)"] {
            writer.execute_batch(change).unwrap();
            // It may be stopped: whoever reads on a thread of its own answers it.
            inline.read(&trusted("SELECT id FROM t1"));
            assert!(inline.read(&trusted("SELECT id FROM t2")).is_some(), "after {change:?}");
            assert!(inline.read(&trusted("SELECT id FROM t1")).is_some(), "after {change:?}");
        }
    }
}
