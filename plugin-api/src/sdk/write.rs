//! The loop that runs a write until it has no conflict.

use super::{transaction::Tx, write_scope};
use crate::abi::{HostError, TransactionBox};

/// After this many conflicts the write fails with the last one: [`crate::HostErrorCode::Conflict`]. The gateway has the same limit
/// for what it runs again itself.
///
/// From the third attempt on it runs alone in its process, so only writes of other replicas can be in its way: of two replicas
/// that want one row each loses every second time, of three two times of three. So the gateway lets each further attempt wait for
/// a random moment, when it asks for its first statement or its commit.
pub const WRITE_ATTEMPTS_MAX: u32 = 16;

/// Runs a write until the database does not refuse it because of another write at the same time, and commits it.
pub(crate) async fn write<T, E: From<HostError>>(
    now_ms: i64,
    begin: impl Fn() -> Result<TransactionBox, HostError>,
    work: impl AsyncFn(&Tx) -> Result<T, E> + Send + Sync + 'static,
) -> Result<T, E> {
    write_scope::check_outside("a second write")?;
    let mut attempt = 1;
    loop {
        let tx = Tx::new(begin()?, now_ms);
        let written = match write_scope::in_write(work(&tx)).await {
            Ok(value) => tx.commit().await.map(|()| value).map_err(E::from),
            Err(error) => Err(error),
        };
        // What the closure read or decided in an attempt with a conflict does not count, whatever it returned.
        if written.is_ok() || attempt == WRITE_ATTEMPTS_MAX || !tx.has_conflict() {
            return written;
        }
        attempt += 1;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::*;
    use crate::{
        abi::{CapabilityResponse, FfiBytes, HostErrorCode, NewEvent, Statement, StatementResult, Transaction_TO},
        sdk::{EventBuilder, sql},
    };
    use abi_stable::{
        erased_types::TD_Opaque,
        std_types::{RResult, RString, RVec},
    };
    use async_ffi::{FfiFuture, FutureExt as _};
    use std::{
        pin::pin,
        sync::{Arc, Mutex},
        task::{Context, Poll, Waker},
    };

    /// A database whose first attempts conflict: at a statement or at the commit.
    #[derive(Default)]
    struct Database {
        statement_conflicts: u32,
        commit_conflicts: u32,
        attempts: Mutex<Vec<Vec<&'static str>>>,
    }

    struct Attempt {
        database: Arc<Database>,
        number: u32,
    }

    impl Database {
        fn begin(self: &Arc<Self>) -> Result<TransactionBox, HostError> {
            let mut attempts = self.attempts.lock().unwrap();
            attempts.push(Vec::new());
            let attempt = Attempt { database: self.clone(), number: u32::try_from(attempts.len()).unwrap() };
            Ok(Transaction_TO::from_value(attempt, TD_Opaque))
        }

        /// What happened in each attempt.
        fn attempts(&self) -> Vec<Vec<&'static str>> {
            self.attempts.lock().unwrap().clone()
        }
    }

    impl Attempt {
        fn note(&self, what: &'static str) {
            self.database.attempts.lock().unwrap()[self.number as usize - 1].push(what);
        }

        fn conflict<T>(&self, conflicts: u32, otherwise: T) -> RResult<T, HostError> {
            if self.number <= conflicts {
                return RResult::RErr(HostError::new(
                    HostErrorCode::Conflict,
                    "it conflicted with another transaction",
                ));
            }
            RResult::ROk(otherwise)
        }
    }

    impl crate::abi::Transaction for Attempt {
        fn run(&self, statements: RVec<Statement>) -> FfiFuture<RResult<RVec<StatementResult>, HostError>> {
            self.note("run");
            let results = statements.iter().map(|_| StatementResult { rows: Default::default(), changes: 1 }).collect();
            std::future::ready(self.conflict(self.database.statement_conflicts, results)).into_ffi()
        }

        fn defer(&self, _: Statement) -> RResult<(), HostError> {
            RResult::ROk(())
        }

        fn begin_event(&self, _: u32) {}

        fn publish(&self, _: NewEvent) -> RResult<(), HostError> {
            self.note("publish");
            RResult::ROk(())
        }

        fn call(&self, _: RString, _: FfiBytes) -> FfiFuture<RResult<CapabilityResponse, HostError>> {
            std::future::ready(RResult::RErr(HostError::new(HostErrorCode::Refused, "no intents here"))).into_ffi()
        }

        fn commit(&self) -> FfiFuture<RResult<(), HostError>> {
            self.note("commit");
            std::future::ready(self.conflict(self.database.commit_conflicts, ())).into_ffi()
        }
    }

    /// The output of a future that never waits.
    fn ready<T>(future: impl Future<Output = T>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("it waits"),
        }
    }

    async fn note(tx: &Tx) -> Result<u64, HostError> {
        let changes = tx.execute(sql("INSERT INTO notes_notes (id) VALUES (1)")).await?;
        EventBuilder::new("notes.create", &1).publish(tx)?;
        Ok(changes)
    }

    #[test]
    fn a_write_runs_once_when_nothing_conflicts() {
        let database = Arc::new(Database::default());
        let written =
            ready(write(1_999, || database.begin(), async |tx| Ok::<_, HostError>((note(tx).await?, tx.now_s()))));
        assert_eq!(written.unwrap(), (1, 1));
        assert_eq!(database.attempts(), [["run", "publish", "commit"]]);
    }

    #[test]
    fn a_write_runs_again_after_a_conflict_of_a_statement() {
        let database = Arc::new(Database { statement_conflicts: 2, ..Default::default() });
        assert_eq!(ready(write(0, || database.begin(), note)).unwrap(), 1);
        assert_eq!(database.attempts(), [vec!["run"], vec!["run"], vec!["run", "publish", "commit"]]);
    }

    #[test]
    fn a_write_runs_again_after_a_conflict_of_the_commit() {
        let database = Arc::new(Database { commit_conflicts: 1, ..Default::default() });
        assert_eq!(ready(write(0, || database.begin(), note)).unwrap(), 1);
        let attempt = vec!["run", "publish", "commit"];
        assert_eq!(database.attempts(), [attempt.clone(), attempt], "each attempt publishes its own events");
    }

    #[test]
    fn an_error_that_hides_a_conflict_does_not_end_the_write() {
        let database = Arc::new(Database { statement_conflicts: 1, ..Default::default() });
        let work = async |tx: &Tx| note(tx).await.map_err(|_| HostError::new(HostErrorCode::Invalid, "hidden"));
        assert_eq!(ready(write(0, || database.begin(), work)).unwrap(), 1);
    }

    #[test]
    fn an_error_of_the_closure_ends_the_write_without_a_commit() {
        let database = Arc::new(Database::default());
        let refuse = async |tx: &Tx| {
            note(tx).await?;
            Err::<(), _>(HostError::new(HostErrorCode::Invalid, "refused"))
        };
        assert!(ready(write(0, || database.begin(), refuse)).unwrap_err().is(HostErrorCode::Invalid));
        assert_eq!(database.attempts(), [["run", "publish"]]);
    }

    #[test]
    fn attempts_are_bounded() {
        let database = Arc::new(Database { statement_conflicts: u32::MAX, ..Default::default() });
        assert!(ready(write(0, || database.begin(), note)).unwrap_err().is(HostErrorCode::Conflict));
        assert_eq!(database.attempts().len(), WRITE_ATTEMPTS_MAX as usize);
    }
}
