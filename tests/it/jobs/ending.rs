//! How runs end, and what is stored about it.

use super::*;
use rstest::rstest;

#[rstest]
#[tokio::test]
async fn a_run_is_dropped_after_its_time_limit(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
    #[values(JobBehaviour::Wait, JobBehaviour::WaitAndPanicOnDrop)] behaviour: JobBehaviour,
) {
    let fixture = Fixture::new(engine).await;
    let panics = matches!(behaviour, JobBehaviour::WaitAndPanicOnDrop);
    let work = TestJobs::new([behaviour]);
    let job = JobSpec { timeout_ms: 30, ..every_s("sweep", 60) };
    let gateway = fixture.start("a", &[job], &work);
    let status = fixture.ran("sweep", 1).await;
    let expected = if panics { ("panicked", "not like this") } else { ("timed_out", "dropped after 30 ms") };
    assert_eq!((status.last_result.as_deref(), status.last_error.as_deref()), (Some(expected.0), Some(expected.1)));
    assert_eq!((status.failures, status.next_run_ms, work.drops()), (1, START_MS + 60_000, 1));
    // The job goes on.
    work.change(0, JobBehaviour::Succeed);
    fixture.advance_s(60).await;
    let status = fixture.ran("sweep", 2).await;
    assert_eq!((status.last_result.as_deref(), status.last_error, status.failures), (Some("ok"), None, 1));
    gateway.stopped().await;
}

#[rstest]
#[case::failed(JobBehaviour::Fail(JobFailure::Failed("no\0 luck\nat all".into())), "failed", "no  luck at all")]
#[case::reported(
    JobBehaviour::Fail(JobFailure::Panicked { message: "index out of bounds".into(), location: "src/lib.rs:1:2".into() }),
    "panicked",
    "index out of bounds (src/lib.rs:1:2)"
)]
#[case::panicked(JobBehaviour::Panic, "panicked", "boom  at sea")]
#[case::long(JobBehaviour::Fail(JobFailure::Failed("€".repeat(501))), "failed", &"€".repeat(500))]
#[tokio::test]
async fn a_failure_is_written_down_and_the_job_goes_on(
    #[case] behaviour: JobBehaviour,
    #[case] result: &str,
    #[case] error: &str,
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::new(engine).await;
    let work = TestJobs::new([behaviour]);
    let gateway = fixture.start("a", &[every_s("sweep", 60)], &work);
    let status = fixture.ran("sweep", 1).await;
    assert_eq!((status.last_result.as_deref(), status.last_error.as_deref()), (Some(result), Some(error)));
    assert_eq!(status.failures, 1);
    fixture.advance_s(60).await;
    assert_eq!(fixture.ran("sweep", 2).await.failures, 2);
    gateway.stopped().await;
}

#[rstest]
#[tokio::test]
async fn jobs_survive_a_database_that_fails(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    const AWAY: &str = "ALTER TABLE host_job_runs RENAME TO job_runs_away";
    const BACK: &str = "ALTER TABLE job_runs_away RENAME TO host_job_runs";
    let fixture = Fixture::without_table(engine).await;
    let work = TestJobs::new([JobBehaviour::Wait]);
    let gateway = fixture.start("a", &[every_s("sweep", 60)], &work);
    assert!(fixture.store().list().await.is_err());
    fixture.migrate(&[]).await;
    work.started(0, 1).await;
    // The table is missing while the end of the run is to be stored.
    fixture.migrate(&[AWAY]).await;
    work.let_one_end();
    assert!(fixture.store().list().await.is_err());
    fixture.migrate(&[AWAY, BACK]).await;
    assert_eq!(fixture.ran("sweep", 1).await.last_result.as_deref(), Some("ok"));
    gateway.stopped().await;
}

#[rstest]
#[tokio::test]
async fn jobs_stop_even_while_the_database_fails(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let fixture = Fixture::without_table(engine).await;
    let work = TestJobs::new([JobBehaviour::Succeed]);
    fixture.start("a", &[every_s("sweep", 60)], &work).stopped().await;
    let gateway = fixture.start("a", &[every_s("sweep", 60)], &work);
    fixture.db.database.close().await;
    gateway.stopped().await;
    assert!(work.starts_s(0).is_empty());
}
