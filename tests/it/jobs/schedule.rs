//! When jobs run.

use super::*;
use rstest::rstest;

#[rstest]
#[tokio::test]
async fn an_interval_runs_at_once_and_then_after_each_interval(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::new(engine).await;
    let work = TestJobs::new([JobBehaviour::Succeed]);
    let gateway = fixture.start("a", &[every_s("sweep", 60)], &work);
    let first = fixture.ran("sweep", 1).await;
    assert_eq!(first.next_run_ms, START_MS + 60_000);
    assert_eq!((first.last_result.as_deref(), first.failures), (Some("ok"), 0));
    assert_eq!((first.last_started_ms, first.last_finished_ms), (Some(START_MS), Some(START_MS)));
    assert_eq!(first.schedule, "every 60 s");
    fixture.advance_s(59).await;
    fixture.advance_s(1).await;
    fixture.ran("sweep", 2).await;
    fixture.advance_s(60).await;
    fixture.ran("sweep", 3).await;
    gateway.stopped().await;
    assert_eq!(work.starts_s(0), [0, 60, 120]);
}

#[rstest]
#[tokio::test]
async fn an_interval_counts_from_the_end_of_the_run(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let work = TestJobs::new([JobBehaviour::Wait]);
    let gateway = fixture.start("a", &[every_s("sweep", 60)], &work);
    work.started(0, 1).await;
    fixture.advance_s(40).await;
    work.let_one_end();
    let status = fixture.ran("sweep", 1).await;
    assert_eq!(status.next_run_ms, START_MS + 100_000);
    gateway.stopped().await;
}

#[rstest]
#[tokio::test]
async fn cron_runs_at_each_match(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.advance_s(120).await;
    let work = TestJobs::new([JobBehaviour::Succeed]);
    let gateway = fixture.start("a", &[cron("digest", "*/5 * * * *")], &work);
    let planned = fixture.status_when("digest", "planned", |_| true).await;
    assert_eq!((planned.next_run_ms, planned.runs), (START_MS + 300_000, 0));
    assert_eq!(planned.schedule, "cron */5 * * * * UTC");
    fixture.advance_s(180).await;
    assert_eq!(fixture.ran("digest", 1).await.next_run_ms, START_MS + 600_000);
    // Three scheduled times pass at once: the job runs once for them.
    fixture.advance_s(1_000).await;
    assert_eq!(fixture.ran("digest", 2).await.next_run_ms, START_MS + 1_500_000);
    gateway.stopped().await;
    let starts_s = work.starts_s(0);
    // The clock stops at 600 for a moment: the second run may have begun there.
    assert!(matches!(starts_s[..], [300, 600..=1_300]), "{starts_s:?}");
}

#[rstest]
#[tokio::test]
async fn a_restart_keeps_the_plan_and_a_new_schedule_makes_a_new_one(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::new(engine).await;
    let work = TestJobs::new([JobBehaviour::Succeed]);
    let gateway = fixture.start("a", &[every_s("sweep", 3_600)], &work);
    fixture.ran("sweep", 1).await;
    gateway.stopped().await;

    fixture.advance_s(1_800).await;
    let gateway = fixture.start("b", &[every_s("sweep", 3_600)], &work);
    fixture.advance_s(1_800).await;
    assert_eq!(fixture.ran("sweep", 2).await.next_run_ms, START_MS + 7_200_000);
    gateway.stopped().await;

    let gateway = fixture.start("c", &[cron("sweep", "0 12 * * *")], &work);
    let noon = |status: &JobStatus| status.next_run_ms == START_MS + 12 * 3_600_000;
    assert_eq!(fixture.status_when("sweep", "the new plan", noon).await.runs, 2);
    gateway.stopped().await;
    assert_eq!(work.starts_s(0), [0, 3_600]);
}

#[rstest]
#[tokio::test]
async fn a_clock_that_went_back_does_not_stop_the_jobs(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let mut fixture = Fixture::new(engine).await;
    fixture.lease = SHORT_LEASE;
    let jobs = [every_s("sweep", 60), cron("digest", "*/5 * * * *"), every_s("long", 60)];
    let work = TestJobs::new([JobBehaviour::Succeed, JobBehaviour::Succeed, JobBehaviour::Succeed]);
    // A year ahead; the gateway dies in the middle of `long`.
    fixture.clock = ManualClock::new(START_MS + 365 * 86_400_000);
    work.change(2, JobBehaviour::Wait);
    let killed = KillableGateway::start(&fixture, "ahead", &jobs, &work).await;
    fixture.ran("sweep", 1).await;
    fixture.status_when("digest", "planned", |_| true).await;
    work.started(2, 1).await;
    killed.kill();

    fixture.clock = ManualClock::new(START_MS);
    work.change(2, JobBehaviour::Succeed);
    let gateway = fixture.start("right", &jobs, &work);
    fixture.status_when("sweep", "a plan near", |status| status.next_run_ms == START_MS + 60_000).await;
    fixture.status_when("digest", "a plan near", |status| status.next_run_ms == START_MS + 300_000).await;
    fixture.status_when("long", "a plan near", |status| status.next_run_ms == START_MS + 60_000).await;
    fixture.advance_s(300).await;
    assert_eq!(fixture.ran("sweep", 2).await.last_result.as_deref(), Some("ok"));
    assert_eq!(fixture.ran("digest", 1).await.last_result.as_deref(), Some("ok"));
    let long = fixture.ran("long", 2).await;
    assert_eq!((long.last_result.as_deref(), long.failures), (Some("ok"), 1));
    gateway.stopped().await;
}

#[rstest]
#[tokio::test]
async fn clocks_that_differ_a_little_do_not_repeat_a_cron_run(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let mut fixture = Fixture::new(engine).await;
    let jobs = [cron("digest", "*/5 * * * *"), every_s("beat", 1)];
    let work = TestJobs::new([JobBehaviour::Succeed, JobBehaviour::Succeed]);
    let gateway = fixture.start("fast", &jobs[..1], &work);
    fixture.status_when("digest", "planned", |_| true).await;
    fixture.advance_s(300).await;
    fixture.ran("digest", 1).await;
    gateway.stopped().await;

    fixture.clock = ManualClock::new(START_MS + 285_000);
    let gateway = fixture.start("slow", &jobs, &work);
    // The job `beat` shows that the gateway checks its jobs all the time.
    for beat in 1..=30 {
        fixture.ran("beat", beat).await;
        fixture.advance_s(1).await;
    }
    let status = fixture.status("digest").await.unwrap();
    assert_eq!((status.runs, status.next_run_ms), (1, START_MS + 600_000));
    gateway.stopped().await;
}
