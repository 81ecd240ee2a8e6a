//! What a job writes when another gateway has its lease: nothing.

use super::{job_wakes::ran, post};
use gateway_tests::process::LIMIT;
use plugin_testing::{TestGateway, json};
use std::time::Duration;

#[tokio::test]
async fn a_run_that_has_lost_its_lease_writes_nothing() {
    for gateway in TestGateway::each_database(&[keeper::plugin_module()]).await {
        ran(&gateway, 1).await;
        gateway.clock().advance(Duration::from_secs(1)).await;
        assert_eq!(post(&gateway, "/api/keeper/orders", json!("far away")).await.status, 204);
        let is_running = async || gateway.gateway().jobs.list().await.unwrap()[0].holder.is_some();
        TestGateway::eventually(LIMIT, "the job runs", is_running).await;
        gateway.execute("UPDATE host_job_runs SET last_started_ms = last_started_ms + 1").await;
        // Sooner than the lease is renewed: it is the write that is refused.
        TestGateway::eventually(LIMIT, "the write is refused", async || {
            gateway.clock().advance(Duration::from_secs(20)).await;
            gateway.faults().await.iter().any(|fault| fault.contains("its job has lost its lease"))
        })
        .await;
        assert_eq!(gateway.rows("SELECT name FROM keeper_orders").await, ["Text(\"far away\")"]);
        gateway.stop().await;
    }
}
