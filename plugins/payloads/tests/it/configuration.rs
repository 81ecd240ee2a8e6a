//! `[plugins.payloads]`: a wrong value stops the plugin with a reason that names it.

use plugin_testing::{TestGateway, Value, json};

async fn reason(config: Value) -> String {
    let builder = TestGateway::builder().plugin(payloads::plugin_module()).config("payloads", config);
    let gateway = builder.open().await;
    let reason = gateway.reports().await.into_iter().find(|report| report.name == "payloads").unwrap().reason;
    gateway.stop().await;
    reason
}

#[tokio::test]
async fn wrong_values_are_reported_together() {
    let reason = reason(json!({ "total_bytes_max": -1, "client_bytes_per_day_max": 262_143, "keep_days": 0 })).await;
    for key in ["total_bytes_max is -1", "client_bytes_per_day_max is 262143", "keep_days is 0"] {
        assert!(reason.contains(key), "{reason}");
    }
}

#[tokio::test]
async fn unknown_keys_are_refused() {
    let reason = reason(json!({ "keep_hours": 1 })).await;
    assert!(reason.contains("keep_hours"), "{reason}");
}
