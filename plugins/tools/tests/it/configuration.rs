//! `[plugins.tools]`: a wrong value stops the plugin with a reason that names it.

use plugin_testing::{TestGateway, json};

#[tokio::test]
async fn wrong_values_and_unknown_keys_are_refused() {
    for (config, part) in [
        (json!({ "probe_interval_s": 9 }), "probe_interval_s is 9"),
        (json!({ "probe_interval_s": 86_401 }), "probe_interval_s is 86401"),
        (json!({ "calls_max": 0 }), "calls_max is 0"),
        (json!({ "calls_per_listing_max": 10_001 }), "calls_per_listing_max is 10001"),
        (json!({ "probe": 5 }), "probe"),
    ] {
        let gateway = TestGateway::builder().plugin(tools::plugin_module()).config("tools", config).open().await;
        let reason = gateway.reports().await.into_iter().find(|report| report.name == "tools").unwrap().reason;
        assert!(reason.contains(part), "{reason}");
        gateway.stop().await;
    }
}
