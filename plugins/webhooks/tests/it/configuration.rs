//! `[plugins.webhooks]`: a wrong value stops the plugin with a reason that names it.

use plugin_testing::{TestGateway, Value, json};

async fn reason(config: Value) -> String {
    let builder = TestGateway::builder().plugin(agents::plugin_module()).plugin(webhooks::plugin_module());
    let gateway = builder.config("webhooks", config).open().await;
    let reason = gateway.reports().await.into_iter().find(|report| report.name == "webhooks").unwrap().reason;
    gateway.stop().await;
    reason
}

#[tokio::test]
async fn wrong_values_are_reported_together() {
    let config = json!({
        "retry_s": vec![40_000_000; 31], "webhooks_per_owner": 0, "endpoints_at_once": 0, "endpoints_at_once_per_owner": 0,
        "rotation_hours": 721, "disable_after_days": 0, "disable_failures": 0, "disable_failure_days": 0, "keep_days": 0,
        "tests_per_minute": 0, "replays_per_day": 0,
    });
    let reason = reason(config.clone()).await;
    for key in config.as_object().unwrap().keys() {
        assert!(reason.contains(key), "{key}: {reason}");
    }
    assert!(reason.contains("retry_s has more than 30 members"), "{reason}");
}

#[tokio::test]
async fn unknown_keys_are_refused() {
    let reason = reason(json!({ "retries": 3 })).await;
    assert!(reason.contains("retries"), "{reason}");
}
