//! Several gateways on one database: each run happens once.

use super::*;
use rstest::rstest;

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_gateways_exactly_one_runs_each_tick(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let work = Work::new([Act::Succeed]);
    let gateways =
        [fixture.start("a", &[every_s("sweep", 10)], &work), fixture.start("b", &[every_s("sweep", 10)], &work)];
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
    let work = Work::new([Act::Wait, Act::Succeed]);
    let gateways = [fixture.start("a", &jobs, &work), fixture.start("b", &jobs, &work)];
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

#[rstest]
#[tokio::test]
async fn when_the_holder_dies_another_takes_over_after_the_lease(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::new(engine).await;
    let work = Work::new([Act::Wait]);
    let killed = KillableGateway::start(&fixture, "killed", &[every_s("sweep", 10)], &work).await;
    work.started(0, 1).await;
    killed.kill();
    let held = fixture.status("sweep").await.unwrap();
    assert_eq!((held.holder.as_deref(), held.runs), (Some("killed"), 0));

    let survivor_work = Work::new([Act::Wait, Act::Succeed]);
    let survivor = fixture.start("survivor", &[every_s("sweep", 10), every_s("beat", 10)], &survivor_work);
    for beat in 1..=9 {
        fixture.ran("beat", beat).await;
        fixture.advance_s(10).await;
    }
    // 90 s have passed: the time limit and its grace, to the millisecond.
    fixture.ran("beat", 10).await;
    assert_eq!(fixture.status("sweep").await.unwrap().holder.as_deref(), Some("killed"));
    fixture.advance_s(1).await;
    survivor_work.started(0, 1).await;
    let lost = fixture.status("sweep").await.unwrap();
    assert_eq!((lost.holder.as_deref(), lost.last_result.as_deref()), (Some("survivor"), Some("lost")));
    assert_eq!((lost.runs, lost.failures), (1, 1));
    assert_eq!(lost.last_error.as_deref(), Some("its gateway ended: killed"));
    survivor_work.let_one_end();
    let ended = fixture.ran("sweep", 2).await;
    assert_eq!((ended.last_result.as_deref(), ended.failures, ended.last_error), (Some("ok"), 1, None));
    survivor.stopped().await;
    // At 90 s the lease was still held; when in the next second it is taken depends on the scheduler.
    assert!(matches!(survivor_work.starts_s(0)[..], [90 | 91]), "{:?}", survivor_work.starts_s(0));
}

#[rstest]
#[tokio::test]
async fn a_run_that_lost_its_lease_writes_nothing(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let mut fixture = Fixture::new(engine).await;
    let (slow_work, fast_work) = (Work::new([Act::Wait]), Work::new([Act::Wait]));
    let slow = fixture.start("slow", &[every_s("sweep", 10)], &slow_work);
    slow_work.started(0, 1).await;
    fixture.clock = ManualClock::new(START_MS + 60_000 + GRACE_MS + 1);
    let fast = fixture.start("fast", &[every_s("sweep", 10)], &fast_work);
    fast_work.started(0, 1).await;
    slow_work.let_one_end();
    slow.stopped().await;
    let status = fixture.status("sweep").await.unwrap();
    assert_eq!((status.holder.as_deref(), status.runs), (Some("fast"), 1));
    fast_work.let_one_end();
    assert_eq!(fixture.ran("sweep", 2).await.next_run_ms, START_MS + 60_000 + GRACE_MS + 1 + 10_000);
    fast.stopped().await;
}

#[rstest]
#[tokio::test]
async fn a_stop_gives_the_lease_back(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let work = Work::new([Act::Wait]);
    let first = fixture.start("first", &[every_s("sweep", 60)], &work);
    work.started(0, 1).await;
    first.stopped().await;
    assert_eq!(work.drops(), 1);
    let status = fixture.status("sweep").await.unwrap();
    assert_eq!((status.holder, status.last_result, status.runs), (None, None, 0));
    assert_eq!(status.next_run_ms, START_MS);

    work.change(0, Act::Succeed);
    let second = fixture.start("second", &[every_s("sweep", 60)], &work);
    assert_eq!(fixture.ran("sweep", 1).await.last_started_ms, Some(START_MS));
    second.stopped().await;
}

#[rstest]
#[tokio::test]
async fn a_stop_waits_a_while_for_what_runs(#[values(Engine::Sqlite, Engine::Postgres)] engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let work = Work::new([Act::Wait]);
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
    let work = Work::new([Act::Wait]);
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
