//! `[plugins.validators]`: what is wrong stops the plugin and is named.

use plugin_testing::{TestGateway, json};

#[tokio::test]
async fn wrong_values_are_told_together() {
    let config = json!({ "operators": ["me"], "signups_per_hour": 0 });
    let house = TestGateway::builder().plugin(validators::plugin_module()).config("validators", config).open().await;
    let reason = house.reports().await.into_iter().find(|report| report.name == "validators").unwrap().reason;
    assert!(reason.contains("operators: `me`") && reason.contains("signups_per_hour is 0"), "{reason}");
    house.stop().await;
}
