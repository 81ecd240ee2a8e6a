//! Jobs that a handler wakes, and that fail with an error of the plugin's own.

use super::post;
use gateway_jobs::JobStatus;
use gateway_tests::process::LIMIT;
use plugin_testing::{TestGateway, json};

async fn status(gateway: &TestGateway) -> JobStatus {
    let jobs = gateway.gateway().jobs.list().await.unwrap();
    jobs.into_iter().find(|job| job.job == "deliver_orders").unwrap()
}

pub async fn ran(gateway: &TestGateway, runs: i64) -> JobStatus {
    let has_run = async || {
        let status = status(gateway).await;
        status.runs >= runs && status.holder.is_none()
    };
    TestGateway::eventually(LIMIT, "the job runs", has_run).await;
    status(gateway).await
}

#[tokio::test]
async fn a_woken_job_runs_at_once_and_tells_why_it_failed() {
    for gateway in TestGateway::each_database(&[keeper::plugin_module()]).await {
        let first = ran(&gateway, 1).await;
        assert_eq!(first.last_result.as_deref(), Some("ok"));
        // The clock stands still: no schedule is due.
        gateway.clock().advance(std::time::Duration::from_secs(1)).await;
        assert_eq!(post(&gateway, "/api/keeper/orders", json!("home")).await.status, 204);
        let second = ran(&gateway, 2).await;
        assert_eq!(second.last_result.as_deref(), Some("ok"));
        assert_eq!(gateway.rows("SELECT count(*) FROM keeper_orders").await, ["Int(0)"]);
        assert_eq!(second.next_run_ms, gateway.clock().now_ms() + 3_600_000, "the schedule goes on from here");

        gateway.clock().advance(std::time::Duration::from_secs(1)).await;
        assert_eq!(post(&gateway, "/api/keeper/orders", json!("nowhere")).await.status, 204);
        let failed = ran(&gateway, 3).await;
        let reason = "order nowhere cannot be delivered: nobody lives there";
        assert_eq!((failed.last_result.as_deref(), failed.last_error.as_deref()), (Some("failed"), Some(reason)));
        assert_eq!(failed.next_run_ms, gateway.clock().now_ms() + 3_600_000, "it waits for its time again");
        let faults = gateway.faults().await;
        assert!(faults[0].contains(&format!("job deliver_orders: {reason}")), "{faults:?}");

        assert_eq!(post(&gateway, "/api/keeper/jobs/nothing", json!(null)).await.status, 500, "a bug of the plugin");
        assert!(gateway.faults().await[0].contains("has no job \"nothing\""), "{:?}", gateway.faults().await);
        gateway.stop().await;
    }
}
