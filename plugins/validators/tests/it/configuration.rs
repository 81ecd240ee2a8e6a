//! `[plugins.validators]`: a wrong value stops the plugin with a reason that names it.

use plugin_testing::{TestGateway, json};

#[tokio::test]
async fn wrong_values_are_reported_together() {
    let config = json!({ "operators": ["me"], "signups_per_hour": 0 });
    let gateway = TestGateway::builder().plugin(validators::plugin_module()).config("validators", config).open().await;
    let reason = gateway.reports().await.into_iter().find(|report| report.name == "validators").unwrap().reason;
    assert!(reason.contains("operators: `me`") && reason.contains("signups_per_hour is 0"), "{reason}");
    gateway.stop().await;
}
