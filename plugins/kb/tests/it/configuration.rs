//! `[plugins.kb]`: a wrong value stops the plugin with a reason that names it.

use plugin_testing::{TestGateway, Value, json};

async fn reason(config: Value) -> String {
    let gateway = TestGateway::builder().plugin(kb::plugin_module()).config("kb", config).open().await;
    let reason = gateway.reports().await.into_iter().find(|report| report.name == "kb").unwrap().reason;
    gateway.stop().await;
    reason
}

#[tokio::test]
async fn wrong_values_are_reported_together() {
    let reason = reason(json!({ "operators": ["me"], "protected": ["x"], "pinned": { "a b": "0x1" } })).await;
    for part in ["operators: `me`", "protected: `x`", "pinned: `a b`", "pinned: `0x1`"] {
        assert!(reason.contains(part), "{reason}");
    }
}

#[tokio::test]
async fn unknown_keys_are_refused() {
    let reason = reason(json!({ "protect": [] })).await;
    assert!(reason.contains("protect"), "{reason}");
}
