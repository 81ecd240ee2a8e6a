//! `[plugins.referrals]`: a wrong value stops the plugin with a reason that names it.

use plugin_testing::{TestGateway, Value, json};

async fn reason(config: Value) -> String {
    let builder = TestGateway::builder().plugin(referrals::plugin_module()).config("referrals", config);
    let gateway = builder.open().await;
    let reason = gateway.reports().await.into_iter().find(|report| report.name == "referrals").unwrap().reason;
    gateway.stop().await;
    reason
}

#[tokio::test]
async fn wrong_values_are_refused() {
    for (config, named) in [
        (json!({ "reward_wei": "0" }), "reward_wei is 0"),
        (json!({ "budget_wei": "1.5" }), "78 decimal digits"),
        (json!({ "paid_per_day": 0 }), "paid_per_day is 0"),
        (json!({ "operators": ["0x1"] }), "operators: `0x1`"),
        (json!({ "budget": "1" }), "budget"),
    ] {
        let reason = reason(config).await;
        assert!(reason.contains(named), "{named}: {reason}");
    }
}
