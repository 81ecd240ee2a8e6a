//! Jobs on both databases, by a clock that the tests move.

mod ending;
mod lease;
mod lost_lease;
mod schedule;
mod wake;

use crate::storage::{Engine, TestDatabase};
use futures_util::FutureExt as _;
use gateway_clock::{Clock, ManualClock};
use gateway_jobs::{
    Jitter, JobFailure, JobRunner, JobSet, JobStatus, JobStore, LEASE, RunJob, migration, wakes_migration,
};
use gateway_storage::{CommitStatement, Database, MigrationSet, Scope};
use gateway_tests::process::LIMIT;
use plugin_api::{
    manifest::{JobSpec, MigrationSpec, Schedule},
    sql,
};
use plugin_testing::TestGateway;
use std::{
    cell::Cell,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Far from the real time, at the start of a day.
pub const START_MS: i64 = 1_600_041_600_000;
/// A lease that a test waits for, in real time: the database's clock decides. A machine that stalls for four fifths of it loses one.
pub const SHORT_LEASE: Duration = Duration::from_secs(3);

/// The test's own database, and the clock of its gateways.
pub struct Fixture {
    pub db: TestDatabase,
    pub clock: ManualClock,
    pub lease: Duration,
}

impl Fixture {
    pub async fn new(engine: Engine) -> Self {
        let fixture = Self::without_table(engine).await;
        fixture.migrate(&[]).await;
        fixture
    }

    pub async fn without_table(engine: Engine) -> Self {
        Self { db: TestDatabase::new(engine).await, clock: ManualClock::new(START_MS), lease: LEASE }
    }

    pub fn store(&self) -> JobStore {
        JobStore::new(self.db.database.clone())
    }

    /// Makes the tables of jobs, and then what these statements do.
    pub async fn migrate(&self, more: &[&str]) {
        let more = (3..).zip(more).map(|(version, sql)| MigrationSpec::new(version, "more", sql));
        let migrations: Vec<_> = [migration(1), wakes_migration(2)].into_iter().chain(more).collect();
        let schema = MigrationSet { scope: &Scope::Host, views: &[], migrations: &migrations };
        self.db.database.migrate(&schema).await.unwrap();
    }

    pub fn runner(&self, holder: &str) -> JobRunner {
        JobRunner {
            store: self.store(),
            clock: Clock::Manual(self.clock.clone()),
            holder: holder.into(),
            jitter: Jitter::None,
            lease: self.lease,
            drain_timeout: Duration::ZERO,
        }
    }

    pub fn start(&self, holder: &str, jobs: &[JobSpec], work: &TestJobs) -> Gateway {
        Gateway::start(&self.runner(holder), jobs, work)
    }

    /// As many as may share the database.
    pub fn start_all(&self, engine: Engine, jobs: &[JobSpec], work: &TestJobs) -> Vec<Gateway> {
        let holders = match engine {
            Engine::Sqlite => &["a"][..],
            Engine::Postgres => &["a", "b"],
        };
        holders.iter().map(|holder| self.start(holder, jobs, work)).collect()
    }

    /// Changes rows without a gateway.
    pub async fn execute(&self, text: &'static str) {
        let statement = CommitStatement::new(sql(text).into());
        self.db.database.begin(Scope::Host).commit(vec![statement]).await.unwrap();
    }

    pub async fn advance_s(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds)).await;
    }

    pub async fn status(&self, job: &str) -> Option<JobStatus> {
        let all = self.store().list().await.unwrap();
        all.into_iter().find(|status| status.plugin == "forum" && status.job == job)
    }

    /// Waits until the job's row meets the condition, and returns it.
    pub async fn status_when(&self, job: &str, what: &str, fits: impl Fn(&JobStatus) -> bool) -> JobStatus {
        let found = Cell::new(None);
        TestGateway::eventually(LIMIT, what, async || {
            let status = self.status(job).await.filter(&fits);
            let has_come = status.is_some();
            found.set(status);
            has_come
        })
        .await;
        found.take().unwrap()
    }

    pub async fn ran(&self, job: &str, runs: i64) -> JobStatus {
        self.status_when(job, "that many runs", |status| status.runs >= runs && status.holder.is_none()).await
    }
}

/// The jobs of a plugin, as one gateway runs them.
pub struct Gateway {
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Gateway {
    pub fn start(runner: &JobRunner, jobs: &[JobSpec], work: &TestJobs) -> Self {
        let stop = CancellationToken::new();
        let tasks = runner.start(JobSet::new("forum", jobs).unwrap(), work.run(&runner.clock), &stop);
        Self { stop, tasks }
    }

    pub fn tell_to_stop(&self) {
        self.stop.cancel();
    }

    pub async fn stopped(self) {
        self.stop.cancel();
        tokio::time::timeout(Duration::from_secs(20), self.tasks.wait()).await.expect("the jobs do not stop");
    }
}

/// A gateway with a runtime and a database connection of its own, which can be dropped without releasing its leases.
pub struct KillableGateway {
    runtime: tokio::runtime::Runtime,
}

impl KillableGateway {
    pub async fn start(fixture: &Fixture, holder: &str, jobs: &[JobSpec], work: &TestJobs) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (settings, mut runner) = (fixture.db.settings.clone(), fixture.runner(holder));
        let (jobs, work) = (jobs.to_owned(), work.clone());
        let start = async move {
            runner.store = JobStore::new(Database::open(settings).await.unwrap());
            Gateway::start(&runner, &jobs, &work)
        };
        runtime.spawn(start).await.unwrap();
        Self { runtime }
    }

    pub fn kill(self) {
        self.runtime.shutdown_background();
    }
}

/// What a job does when it runs.
#[derive(Clone, Debug)]
pub enum JobBehaviour {
    Succeed,
    /// Waits for [`TestJobs::let_one_end`], then succeeds.
    Wait,
    /// The same, and panics when it is dropped before.
    WaitAndPanicOnDrop,
    Fail(JobFailure),
    Panic,
}

/// What the jobs do, and a record of their runs.
#[derive(Clone)]
pub struct TestJobs(Arc<Shared>);

struct Shared {
    behaviours: Mutex<Vec<JobBehaviour>>,
    gate: Semaphore,
    starts_ms: Mutex<Vec<Vec<i64>>>,
    running: Vec<AtomicI64>,
    overlaps: AtomicUsize,
    drops: AtomicUsize,
}

impl TestJobs {
    pub fn new(behaviours: impl IntoIterator<Item = JobBehaviour>) -> Self {
        let behaviours: Vec<JobBehaviour> = behaviours.into_iter().collect();
        Self(Arc::new(Shared {
            gate: Semaphore::new(0),
            starts_ms: Mutex::new(vec![Vec::new(); behaviours.len()]),
            running: behaviours.iter().map(|_| AtomicI64::new(0)).collect(),
            overlaps: AtomicUsize::new(0),
            drops: AtomicUsize::new(0),
            behaviours: Mutex::new(behaviours),
        }))
    }

    /// From its next run on.
    pub fn change(&self, index: usize, behaviour: JobBehaviour) {
        self.0.behaviours.lock().unwrap()[index] = behaviour;
    }

    pub fn let_one_end(&self) {
        self.0.gate.add_permits(1);
    }

    /// When the runs began, since [`START_MS`].
    pub fn starts_s(&self, index: usize) -> Vec<i64> {
        self.0.starts_ms.lock().unwrap()[index].iter().map(|ms| (ms - START_MS) / 1_000).collect()
    }

    pub fn overlaps(&self) -> usize {
        self.0.overlaps.load(SeqCst)
    }

    /// Runs that were dropped before they had ended.
    pub fn drops(&self) -> usize {
        self.0.drops.load(SeqCst)
    }

    pub async fn started(&self, index: usize, times: usize) {
        let what = format!("job {index} is started {times} times");
        TestGateway::eventually(LIMIT, &what, async || self.starts_s(index).len() >= times).await;
    }

    fn run(&self, clock: &Clock) -> RunJob {
        let (work, clock) = (self.clone(), clock.clone());
        Arc::new(move |index| {
            let (work, now_ms) = (work.clone(), clock.now_ms());
            async move { work.behave(index as usize, now_ms).await }.boxed()
        })
    }

    async fn behave(self, index: usize, now_ms: i64) -> Result<(), JobFailure> {
        let behaviour = self.0.behaviours.lock().unwrap()[index].clone();
        if self.0.running[index].fetch_add(1, SeqCst) > 0 {
            self.0.overlaps.fetch_add(1, SeqCst);
        }
        let mut guard = RunGuard {
            work: self.clone(),
            index,
            is_over: false,
            panics: matches!(behaviour, JobBehaviour::WaitAndPanicOnDrop),
        };
        self.0.starts_ms.lock().unwrap()[index].push(now_ms);
        // Lets another run of the same job, which would be an error, start meanwhile.
        tokio::task::yield_now().await;
        let result = match behaviour {
            JobBehaviour::Succeed => Ok(()),
            JobBehaviour::Wait | JobBehaviour::WaitAndPanicOnDrop => {
                self.0.gate.acquire().await.unwrap().forget();
                Ok(())
            }
            JobBehaviour::Fail(failure) => Err(failure),
            JobBehaviour::Panic => {
                guard.is_over = true;
                panic!("boom\0 at sea")
            }
        };
        guard.is_over = true;
        result
    }
}

struct RunGuard {
    work: TestJobs,
    index: usize,
    is_over: bool,
    panics: bool,
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        self.work.0.running[self.index].fetch_sub(1, SeqCst);
        if !self.is_over {
            self.work.0.drops.fetch_add(1, SeqCst);
            assert!(!self.panics, "not like this");
        }
    }
}

pub fn every_s(name: &str, seconds: u64) -> JobSpec {
    JobSpec { name: name.to_owned(), schedule: Schedule::EveryMs(seconds * 1_000), timeout_ms: 60_000, lease_ms: None }
}

pub fn cron(name: &str, line: &str) -> JobSpec {
    JobSpec { name: name.to_owned(), schedule: Schedule::Cron(line.to_owned()), timeout_ms: 60_000, lease_ms: None }
}
