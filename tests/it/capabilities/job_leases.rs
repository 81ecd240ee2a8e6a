//! What a job writes when another gateway has its lease: nothing, and neither do the tasks that it has spawned.

use super::{job_wakes::ran, post};
use gateway_tests::process::LIMIT;
use plugin_testing::{TestGateway, json};
use rstest::rstest;
use std::time::Duration;

/// The gateway with a run of its job that delivers this order and has begun.
async fn running(gateway: &TestGateway, order: &str) {
    ran(gateway, 1).await;
    gateway.clock().advance(Duration::from_secs(1)).await;
    assert_eq!(post(gateway, "/api/keeper/orders", json!(order)).await.status, 204);
    let is_running = async || gateway.gateway().jobs.list().await.unwrap()[0].holder.is_some();
    TestGateway::eventually(LIMIT, "the job runs", is_running).await;
}

/// No run that still sleeps holds up the stop.
async fn stop(gateway: TestGateway) {
    gateway.clock().advance(Duration::from_secs(60)).await;
    gateway.stop().await;
}

#[rstest]
#[case::by_itself("far away")]
#[case::in_a_task("by courier")]
#[tokio::test]
async fn a_run_that_has_lost_its_lease_writes_nothing(#[case] order: &str) {
    for gateway in TestGateway::each_database(&[keeper::plugin_module()]).await {
        running(&gateway, order).await;
        gateway.execute("UPDATE host_job_runs SET last_started_ms = last_started_ms + 1").await;
        // Sooner than the lease is renewed: it is the write that is refused.
        TestGateway::eventually(LIMIT, "the write is refused", async || {
            gateway.clock().advance(Duration::from_secs(20)).await;
            gateway.faults().await.iter().any(|fault| fault.contains("its job has lost its lease"))
        })
        .await;
        assert_eq!(gateway.rows("SELECT name FROM keeper_orders").await, [format!("Text({order:?})")]);
        stop(gateway).await;
    }
}

#[tokio::test]
async fn a_task_of_a_run_writes_while_the_run_has_its_lease() {
    for gateway in TestGateway::each_database(&[keeper::plugin_module()]).await {
        running(&gateway, "by courier").await;
        TestGateway::eventually(LIMIT, "the courier is back", async || {
            gateway.clock().advance(Duration::from_secs(1)).await;
            gateway.rows("SELECT name FROM keeper_orders").await.is_empty()
        })
        .await;
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        stop(gateway).await;
    }
}
