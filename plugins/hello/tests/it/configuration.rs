//! `[plugins.hello]`: a wrong value stops the plugin with a reason that names it.

use plugin_testing::{TestGateway, Value, json};

async fn reason(config: Value) -> String {
    let builder = TestGateway::builder().plugin(hello::plugin_module()).config("hello", config);
    let gateway = builder.open().await;
    let reason = gateway.reports().await.into_iter().find(|report| report.name == "hello").unwrap().reason;
    gateway.stop().await;
    reason
}

#[tokio::test]
async fn wrong_values_are_reported_together() {
    let reason = reason(json!({ "greeting": " ", "keep_days": 0 })).await;
    assert!(reason.contains("greeting is empty") && reason.contains("keep_days is 0"), "{reason}");
}

#[tokio::test]
async fn unknown_keys_are_refused() {
    let reason = reason(json!({ "greting": "Moin" })).await;
    assert!(reason.contains("greting"), "{reason}");
}
