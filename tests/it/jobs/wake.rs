//! Jobs that are woken: a run at once, or after the one that is going on, on whichever gateway can.

use super::*;
use rstest::rstest;

#[rstest]
#[tokio::test]
async fn a_woken_job_runs_before_its_time(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let work = TestJobs::new([JobBehaviour::Succeed]);
    let runner = fixture.runner("a");
    let gateway = Gateway::start(&runner, &[every_s("sweep", 3600)], &work);
    fixture.ran("sweep", 1).await;
    fixture.advance_s(1).await;
    runner.store.wake("forum", "sweep").await.unwrap();
    let woken = fixture.ran("sweep", 2).await;
    assert_eq!(woken.next_run_ms, START_MS + 3_601_000);
    gateway.stopped().await;
    assert_eq!(work.starts_s(0), [0, 1]);
}

#[rstest]
#[tokio::test]
async fn a_job_that_is_woken_while_it_runs_runs_once_more(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let work = TestJobs::new([JobBehaviour::Wait]);
    let gateways = fixture.start_all(engine, &[every_s("sweep", 3600)], &work);
    work.started(0, 1).await;
    for _ in 0..3 {
        fixture.store().wake("forum", "sweep").await.unwrap();
    }
    fixture.advance_s(1).await;
    work.let_one_end();
    fixture.status_when("sweep", "one run", |status| status.runs == 1).await;
    fixture.advance_s(5).await;
    work.started(0, 2).await;
    work.let_one_end();
    fixture.ran("sweep", 2).await;
    fixture.advance_s(60).await;
    assert_eq!(fixture.ran("sweep", 2).await.runs, 2, "three calls were one run");
    for gateway in gateways {
        gateway.stopped().await;
    }
    assert_eq!((work.starts_s(0).len(), work.overlaps()), (2, 0));
}

/// The gateway that asks for the run does not serve the plugin any more.
#[rstest]
#[tokio::test]
async fn another_gateway_sees_it_when_it_looks_the_next_time(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::new(engine).await;
    let work = TestJobs::new([JobBehaviour::Succeed]);
    let gateway = fixture.start("a", &[every_s("sweep", 3600)], &work);
    fixture.ran("sweep", 1).await;
    fixture.store().wake("forum", "sweep").await.unwrap();
    fixture.advance_s(5).await;
    fixture.ran("sweep", 2).await;
    gateway.stopped().await;
    assert_eq!(work.starts_s(0), [0, 5]);
}

#[rstest]
#[tokio::test]
async fn a_woken_run_that_is_lost_is_made_up_for(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let mut fixture = Fixture::new(engine).await;
    fixture.lease = SHORT_LEASE;
    let work = TestJobs::new([JobBehaviour::Succeed]);
    let killed = KillableGateway::start(&fixture, "killed", &[every_s("sweep", 3600)], &work).await;
    fixture.ran("sweep", 1).await;
    work.change(0, JobBehaviour::Wait);
    fixture.store().wake("forum", "sweep").await.unwrap();
    fixture.advance_s(5).await;
    work.started(0, 2).await;
    killed.kill();
    work.change(0, JobBehaviour::Succeed);
    let gateway = fixture.start("b", &[every_s("sweep", 3600)], &work);
    fixture.ran("sweep", 3).await;
    gateway.stopped().await;
    assert_eq!(work.starts_s(0), [0, 5, 5]);
}

/// So that one which wakes itself leaves the database to others.
#[rstest]
#[tokio::test]
async fn woken_runs_begin_a_tenth_of_a_second_apart(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let work = TestJobs::new([JobBehaviour::Succeed]);
    let runner = fixture.runner("a");
    let gateway = Gateway::start(&runner, &[every_s("sweep", 3600)], &work);
    fixture.ran("sweep", 1).await;
    runner.store.wake("forum", "sweep").await.unwrap();
    fixture.clock.advance(Duration::from_millis(99)).await;
    fixture.clock.advance(Duration::from_millis(1)).await;
    let second = fixture.ran("sweep", 2).await;
    gateway.stopped().await;
    assert_eq!(second.last_started_ms, Some(START_MS + 100));
}

#[rstest]
#[tokio::test]
async fn a_job_can_be_woken_before_it_is_registered(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.advance_s(120).await;
    fixture.store().wake("forum", "digest").await.unwrap();
    let work = TestJobs::new([JobBehaviour::Succeed]);
    let gateway = fixture.start("a", &[cron("digest", "0 3 * * *")], &work);
    let status = fixture.ran("digest", 1).await;
    assert_eq!((status.schedule.as_str(), status.next_run_ms), ("cron 0 3 * * * UTC", START_MS + 3 * 3_600_000));
    gateway.stopped().await;
    assert_eq!(work.starts_s(0), [120]);
}
