//! A job runs once per tick, whoever runs it; a dead holder's lease is respected to its end and not longer.
//! (`it/jobs/lease.rs` has the same with a clock of its own, to the millisecond.)

use super::{Replicas, THREE};
use crate::crash::{execute, query};
use gateway_clock::Clock;
use gateway_tests::process::{LIMIT, Setup};
use plugin_testing::TestGateway;

const STATE: &str = "SELECT CAST(runs AS TEXT), CAST(failures AS TEXT), coalesce(lease_holder, '')
    FROM host_job_runs WHERE plugin = 'hello'";
/// Longer than a gateway takes to poll the table of jobs twice.
const TWO_LOOKS: std::time::Duration = std::time::Duration::from_secs(11);

async fn state(setup: &Setup) -> (i64, i64, String) {
    let rows = query(setup, STATE).await;
    let row = rows.first().expect("the job is registered");
    (row[0].parse().unwrap(), row[1].parse().unwrap(), row[2].clone())
}

async fn runs(setup: &Setup, runs: i64) {
    let done = async || {
        let (seen, _, holder) = state(setup).await;
        assert!(seen <= runs, "{seen} runs, of {runs} at most");
        seen == runs && holder.is_empty()
    };
    TestGateway::eventually(LIMIT, "the job runs", done).await;
}

async fn make_due(setup: &Setup) {
    execute(setup, "UPDATE host_job_runs SET next_run_ms = 0 WHERE plugin = 'hello'".into()).await;
}

#[tokio::test]
async fn a_job_runs_once_per_tick_and_outlives_its_holder() {
    let mut replicas = Replicas::start(THREE, |setup| setup.set("plugins.hello.enabled", true)).await;
    let setup = replicas.setups[0].clone();
    make_due(&setup).await;
    runs(&setup, 1).await;
    // All gateways poll again, and must find nothing to do.
    make_due(&setup).await;
    runs(&setup, 2).await;
    // That nothing happens shows in nothing else: no run, no log line, no metric.
    tokio::time::sleep(TWO_LOOKS).await;
    assert_eq!(state(&setup).await, (2, 0, String::new()));

    replicas.gateways[0].kill().await.unwrap();
    // As if it had died in the middle of a run.
    let now_ms = Clock::System.now_ms();
    let until_ms = now_ms + 8000;
    let started_ms = now_ms - 1000;
    execute(
        &setup,
        format!(
            "UPDATE host_job_runs SET lease_holder = 'the dead one', lease_until_ms = {until_ms},
             last_started_ms = {started_ms}, next_run_ms = 0 WHERE plugin = 'hello'"
        ),
    )
    .await;
    let is_taken_over = async || {
        let (seen, _, holder) = state(&setup).await;
        if seen == 2 {
            assert_eq!(holder, "the dead one");
            return false;
        }
        assert!(Clock::System.now_ms() > until_ms, "taken over before the lease ended");
        seen == 4
    };
    TestGateway::eventually(LIMIT, "another one takes over", is_taken_over).await;
    // The lost run, and the one that took its place.
    assert_eq!(state(&setup).await, (4, 1, String::new()));
}
