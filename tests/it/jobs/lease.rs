//! Several gateways on one database: each run happens once.

use super::*;
use rstest::rstest;
use std::time::Instant;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_gateways_exactly_one_runs_each_tick() {
    let fixture = Fixture::new(Engine::Postgres).await;
    let work = TestJobs::new([JobBehaviour::Succeed]);
    let gateways = fixture.start_all(Engine::Postgres, &[every_s("sweep", 10)], &work);
    for tick in 1..=30 {
        let status = fixture.ran("sweep", tick).await;
        assert_eq!((status.runs, status.failures), (tick, 0));
        fixture.advance_s(10).await;
    }
    fixture.ran("sweep", 31).await;
    for gateway in gateways {
        gateway.stopped().await;
    }
    assert_eq!(work.starts_s(0), (0..=30).map(|tick| tick * 10).collect::<Vec<_>>());
    assert_eq!(work.overlaps(), 0);
}

#[rstest]
#[tokio::test]
async fn a_job_never_runs_beside_itself_but_beside_others(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let jobs = [every_s("slow", 1), every_s("beat", 10)];
    let work = TestJobs::new([JobBehaviour::Wait, JobBehaviour::Succeed]);
    let gateways = fixture.start_all(engine, &jobs, &work);
    work.started(0, 1).await;
    for beat in 1..=8 {
        fixture.ran("beat", beat).await;
        fixture.advance_s(10).await;
    }
    assert_eq!(work.starts_s(0), [0]);
    work.let_one_end();
    fixture.status_when("slow", "one run", |status| status.runs == 1).await;
    fixture.advance_s(10).await;
    work.started(0, 2).await;
    for gateway in gateways {
        gateway.stopped().await;
    }
    assert_eq!(work.overlaps(), 0);
}

/// In real time, while the clock of the gateways stands still.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_keeps_its_lease_for_as_long_as_it_takes() {
    let mut fixture = Fixture::new(Engine::Postgres).await;
    fixture.lease = SHORT_LEASE;
    let work = TestJobs::new([JobBehaviour::Wait]);
    let gateways = fixture.start_all(Engine::Postgres, &[every_s("sweep", 10)], &work);
    work.started(0, 1).await;
    // That nobody takes the lease shows in nothing else.
    tokio::time::sleep(2 * SHORT_LEASE + SHORT_LEASE / 2).await;
    let status = fixture.status("sweep").await.unwrap();
    assert!(status.holder.is_some() && status.runs == 0, "{status:?}");
    work.let_one_end();
    let status = fixture.ran("sweep", 1).await;
    assert_eq!((status.last_result.as_deref(), status.failures), (Some("ok"), 0));
    for gateway in gateways {
        gateway.stopped().await;
    }
    assert_eq!((work.starts_s(0).len(), work.drops()), (1, 0));
}

/// What is short costs the claim and the end, and nobody on SQLite needs more.
#[rstest]
#[tokio::test]
async fn a_short_run_renews_nothing(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let work = TestJobs::new([JobBehaviour::Wait]);
    let gateway = fixture.start("a", &[every_s("sweep", 10)], &work);
    work.started(0, 1).await;
    let lease = async || fixture.db.rows("SELECT lease_until_ms FROM host_job_runs").await;
    let claimed = lease().await;
    // Less than the time of the first renewal, and enough for one that comes every second.
    tokio::time::sleep(LEASE / 5).await;
    assert_eq!(lease().await, claimed);
    gateway.stopped().await;
}

#[rstest]
#[tokio::test]
async fn when_the_holder_dies_another_takes_over_after_the_lease(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let mut fixture = Fixture::new(engine).await;
    fixture.lease = SHORT_LEASE;
    let work = TestJobs::new([JobBehaviour::Wait]);
    let killed = KillableGateway::start(&fixture, "killed", &[every_s("sweep", 10)], &work).await;
    work.started(0, 1).await;
    // It renews the lease once.
    tokio::time::sleep(SHORT_LEASE / 2).await;
    killed.kill();
    let died = Instant::now();
    let held = fixture.status("sweep").await.unwrap();
    assert_eq!((held.holder.as_deref(), held.runs), (Some("killed"), 0));

    let survivor_work = TestJobs::new([JobBehaviour::Wait]);
    let survivor = fixture.start("survivor", &[every_s("sweep", 10)], &survivor_work);
    survivor_work.started(0, 1).await;
    let taken_after = died.elapsed();
    match engine {
        // Nobody else can have it there.
        Engine::Sqlite => assert!(taken_after < SHORT_LEASE / 2, "{taken_after:?}"),
        Engine::Postgres => {
            assert!(taken_after > SHORT_LEASE / 2, "{taken_after:?}");
            assert!(taken_after < 2 * SHORT_LEASE, "{taken_after:?}");
        }
    }
    let lost = fixture.status("sweep").await.unwrap();
    assert_eq!((lost.holder.as_deref(), lost.last_result.as_deref()), (Some("survivor"), Some("lost")));
    assert_eq!((lost.runs, lost.failures), (1, 1));
    assert_eq!(lost.last_error.as_deref(), Some("its gateway ended or stalled: killed"));
    survivor_work.let_one_end();
    let ended = fixture.ran("sweep", 2).await;
    assert_eq!((ended.last_result.as_deref(), ended.failures, ended.last_error), (Some("ok"), 1, None));
    survivor.stopped().await;
}

/// A job of which two runs at a time do no harm.
fn with_short_lease() -> JobSpec {
    JobSpec { lease_ms: Some(1_000), ..every_s("follow", 10) }
}

#[tokio::test]
async fn a_job_may_have_a_shorter_lease_than_others() {
    let fixture = Fixture::new(Engine::Postgres).await;
    let work = TestJobs::new([JobBehaviour::Wait]);
    let killed = KillableGateway::start(&fixture, "killed", &[with_short_lease()], &work).await;
    work.started(0, 1).await;
    killed.kill();
    let died = Instant::now();
    let survivor_work = TestJobs::new([JobBehaviour::Wait]);
    let survivor = fixture.start("survivor", &[with_short_lease()], &survivor_work);
    survivor_work.started(0, 1).await;
    assert!(died.elapsed() < LEASE / 2, "{:?}", died.elapsed());
    survivor_work.let_one_end();
    survivor.stopped().await;
}

/// What keeps it from renewing for longer than its lease stops it only when another gateway has taken it.
#[tokio::test]
async fn a_run_with_a_short_lease_goes_on_while_nobody_else_takes_it() {
    let fixture = Fixture::new(Engine::Postgres).await;
    let work = TestJobs::new([JobBehaviour::Wait]);
    let gateway = fixture.start("a", &[with_short_lease()], &work);
    work.started(0, 1).await;
    fixture.execute("UPDATE host_job_runs SET lease_until_ms = 1").await;
    let lock = fixture.db.database.begin(Scope::Host);
    lock.run(vec![sql("SELECT 1 FROM host_job_runs FOR UPDATE").into()]).await.unwrap();
    // Longer than the lease, and shorter than a transaction may do nothing.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    lock.commit(Vec::new()).await.unwrap();
    let is_renewed = async || fixture.db.rows("SELECT 1 FROM host_job_runs WHERE lease_until_ms > 1").await.len() == 1;
    TestGateway::eventually(LIMIT, "it renews its lease", is_renewed).await;
    work.let_one_end();
    let ended = fixture.ran("follow", 1).await;
    assert_eq!((ended.last_result.as_deref(), work.drops()), (Some("ok"), 0));
    gateway.stopped().await;
}

#[rstest]
#[tokio::test]
async fn a_stop_gives_the_lease_back(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let work = TestJobs::new([JobBehaviour::Wait]);
    let first = fixture.start("first", &[every_s("sweep", 60)], &work);
    work.started(0, 1).await;
    first.stopped().await;
    assert_eq!(work.drops(), 1);
    let status = fixture.status("sweep").await.unwrap();
    assert_eq!((status.holder, status.last_result, status.runs), (None, None, 0));
    assert_eq!(status.next_run_ms, START_MS);

    work.change(0, JobBehaviour::Succeed);
    let second = fixture.start("second", &[every_s("sweep", 60)], &work);
    assert_eq!(fixture.ran("sweep", 1).await.last_started_ms, Some(START_MS));
    second.stopped().await;
}

#[rstest]
#[tokio::test]
async fn a_stop_waits_a_while_for_what_runs(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let work = TestJobs::new([JobBehaviour::Wait]);
    let runner = JobRunner { drain_timeout: Duration::from_secs(60), ..fixture.runner("a") };
    let gateway = Gateway::start(&runner, &[every_s("sweep", 60)], &work);
    work.started(0, 1).await;
    gateway.tell_to_stop();
    work.let_one_end();
    gateway.stopped().await;
    let status = fixture.status("sweep").await.unwrap();
    assert_eq!((status.last_result.as_deref(), status.runs, work.drops()), (Some("ok"), 1, 0));
}

#[rstest]
#[tokio::test]
async fn what_operators_read_is_camel_case(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let work = TestJobs::new([JobBehaviour::Wait]);
    let gateway = fixture.start("a", &[every_s("sweep", 60)], &work);
    work.started(0, 1).await;
    let status = serde_json::to_value(fixture.status("sweep").await.unwrap()).unwrap();
    let expected = serde_json::json!({
        "plugin": "forum", "job": "sweep", "schedule": "every 60 s", "nextRunMs": START_MS,
        "lastResult": null, "lastError": null, "lastStartedMs": START_MS, "lastFinishedMs": null,
        "runs": 0, "failures": 0, "holder": "a",
    });
    assert_eq!(status, expected);
    gateway.stopped().await;
}
