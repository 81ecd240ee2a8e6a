//! Runs that have lost their lease while their gateway lives: they are stopped, and what they commit is refused.
//!
//! A gateway that is stopped and continued is in `it/webhooks/suspended.rs`.

use super::*;
use gateway_jobs::RunLease;
use gateway_storage::{Isolation, StorageError, Transaction};
use rstest::rstest;
use tokio::sync::Mutex;

const OVER: &str = "UPDATE host_job_runs SET lease_until_ms = 0";

#[tokio::test]
async fn a_run_whose_lease_another_gateway_has_is_stopped_and_writes_nothing() {
    let fixture = Fixture::new(Engine::Postgres).await;
    let (slow_work, fast_work) = (TestJobs::new([JobBehaviour::Wait]), TestJobs::new([JobBehaviour::Wait]));
    let slow = fixture.start("slow", &[every_s("sweep", 10)], &slow_work);
    slow_work.started(0, 1).await;
    fixture.execute(OVER).await;
    let fast = fixture.start("fast", &[every_s("sweep", 10)], &fast_work);
    fast_work.started(0, 1).await;
    TestGateway::eventually(LIMIT, "the run is stopped", async || slow_work.drops() == 1).await;
    let status = fixture.status("sweep").await.unwrap();
    assert_eq!((status.holder.as_deref(), status.runs), (Some("fast"), 1));
    fast_work.let_one_end();
    assert_eq!(fixture.ran("sweep", 2).await.next_run_ms, START_MS + 10_000);
    slow.stopped().await;
    fast.stopped().await;
}

/// Nobody can look whether another gateway took it: the run must not go on.
#[tokio::test]
async fn a_run_whose_lease_cannot_be_renewed_is_stopped_and_made_up_for() {
    const AWAY: &str = "ALTER TABLE host_job_runs RENAME TO job_runs_away";
    const BACK: &str = "ALTER TABLE job_runs_away RENAME TO host_job_runs";
    let mut fixture = Fixture::new(Engine::Postgres).await;
    fixture.lease = SHORT_LEASE;
    let work = TestJobs::new([JobBehaviour::Wait]);
    let gateway = fixture.start("a", &[every_s("sweep", 60)], &work);
    work.started(0, 1).await;
    fixture.migrate(&[AWAY]).await;
    TestGateway::eventually(LIMIT, "the run is stopped", async || work.drops() == 1).await;
    fixture.migrate(&[AWAY, BACK]).await;
    let lost = fixture.status_when("sweep", "its end is written", |status| status.runs == 1).await;
    let error = "dropped because its lease could not be renewed";
    assert_eq!((lost.last_result.as_deref(), lost.last_error.as_deref()), (Some("lost"), Some(error)));
    work.started(0, 2).await;
    work.let_one_end();
    assert_eq!(fixture.ran("sweep", 2).await.last_result.as_deref(), Some("ok"));
    gateway.stopped().await;
}

/// A run that has a transaction open, and what the test needs to end it.
struct OpenTransaction {
    fixture: Fixture,
    gateway: Gateway,
    transaction: Transaction,
    lease: Arc<RunLease>,
}

impl OpenTransaction {
    /// The transaction has a snapshot, and inserted a row.
    async fn of_run(engine: Engine, isolation: Isolation) -> Self {
        let fixture = Fixture::new(engine).await;
        fixture.db.database.execute_batch("CREATE TABLE forum_notes (note TEXT NOT NULL)").await.unwrap();
        let found = Arc::new(Mutex::new(None));
        let run: RunJob = Arc::new({
            let found = found.clone();
            move |_| {
                let found = found.clone();
                async move {
                    *found.lock().await = RunLease::current();
                    std::future::pending().await
                }
                .boxed()
            }
        });
        let stop = CancellationToken::new();
        let jobs = JobSet::new("forum", &[every_s("sweep", 10)]).unwrap();
        let tasks = fixture.runner("holder").start(jobs, run, &stop);
        TestGateway::eventually(LIMIT, "the run has its lease", async || found.lock().await.is_some()).await;
        let lease = found.lock().await.take().unwrap();
        let scope = crate::storage::plugin_scope("forum").with_isolation(isolation);
        let transaction = fixture.db.database.begin(scope);
        transaction.run(vec![sql("INSERT INTO forum_notes (note) VALUES ('of the run')").into()]).await.unwrap();
        Self { fixture, gateway: Gateway { stop, tasks }, transaction, lease }
    }

    async fn commit(&self) -> Result<(), StorageError> {
        self.transaction.commit(vec![self.lease.check()]).await.map(drop)
    }

    async fn notes(&self) -> usize {
        let notes = sql("SELECT note FROM forum_notes").into();
        self.fixture.db.database.read(&Scope::Host, notes).await.unwrap().row_count()
    }
}

#[rstest]
#[tokio::test]
async fn a_transaction_commits_while_its_run_renews_its_lease(
    #[values(Isolation::Serializable, Isolation::PluginLock)] isolation: Isolation,
) {
    let open = OpenTransaction::of_run(Engine::Postgres, isolation).await;
    open.fixture.execute("UPDATE host_job_runs SET lease_until_ms = lease_until_ms + 1").await;
    open.commit().await.unwrap();
    assert_eq!(open.notes().await, 1);
    open.gateway.stopped().await;
}

#[rstest]
#[tokio::test]
async fn a_transaction_of_a_run_that_has_lost_its_lease_does_not_commit(
    #[values(Isolation::Serializable, Isolation::PluginLock)] isolation: Isolation,
) {
    let open = OpenTransaction::of_run(Engine::Postgres, isolation).await;
    open.fixture.execute(OVER).await;
    let work = TestJobs::new([JobBehaviour::Wait]);
    let other = open.fixture.start("other", &[every_s("sweep", 10)], &work);
    work.started(0, 1).await;
    let error = open.commit().await.unwrap_err();
    assert!(matches!(error, StorageError::Rejected(0) | StorageError::Conflict(_)), "{error:?}");
    assert_eq!(open.notes().await, 0);
    other.stopped().await;
    open.gateway.stopped().await;
}

/// On SQLite no other gateway takes it; a run that a new one of the same gateway has replaced is refused.
#[tokio::test]
async fn a_transaction_of_a_run_that_was_replaced_does_not_commit() {
    let open = OpenTransaction::of_run(Engine::Sqlite, Isolation::Serializable).await;
    let check = open.lease.check();
    drop(open.transaction);
    open.fixture.execute("UPDATE host_job_runs SET last_started_ms = last_started_ms + 1").await;
    let error = open.fixture.db.database.begin(Scope::Host).commit(vec![check]).await.unwrap_err();
    assert_eq!(error, StorageError::Rejected(0));
    open.gateway.stopped().await;
}

/// Between the check and the end of the transaction nobody else may begin.
#[tokio::test]
async fn another_gateway_waits_for_a_commit_that_has_begun() {
    let open = OpenTransaction::of_run(Engine::Postgres, Isolation::Serializable).await;
    open.transaction.run_as_host(vec![open.lease.check().statement]).await.unwrap();
    open.fixture.execute(OVER).await;
    let work = TestJobs::new([JobBehaviour::Wait]);
    let other = open.fixture.start("other", &[every_s("sweep", 10)], &work);
    // That it waits shows in nothing else.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(work.starts_s(0).is_empty(), "it begins while the run before may still commit");
    open.transaction.commit(Vec::new()).await.unwrap();
    work.started(0, 1).await;
    assert_eq!(open.notes().await, 1);
    other.stopped().await;
    open.gateway.stopped().await;
}
