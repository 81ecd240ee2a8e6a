//! `[plugins.memory]`: a wrong value stops the plugin with a reason that names it.

use plugin_testing::{TestGateway, Value, json};

async fn reason(config: Value) -> String {
    let builder = TestGateway::builder().plugin(memory::plugin_module()).config("memory", config);
    let gateway = builder.open().await;
    let reason = gateway.reports().await.into_iter().find(|report| report.name == "memory").unwrap().reason;
    gateway.stop().await;
    reason
}

#[tokio::test]
async fn wrong_values_are_reported_together() {
    let reason = reason(json!({
        "free_bytes": -1, "block_bytes": 0, "credit_days": 0, "keys_max": 0, "total_bytes": 66_559, "client_bytes_per_day": 1,
        "treasury": "0x0000000000000000000000000000000000000000", "domain_name": "",
    }))
    .await;
    for problem in [
        "free_bytes is -1",
        "block_bytes is 0",
        "credit_days is 0",
        "keys_max is 0",
        "total_bytes is 66559",
        "client_bytes_per_day is 1",
        "treasury is the zero address",
        "domain_name is empty",
    ] {
        assert!(reason.contains(problem), "{problem}: {reason}");
    }
}

#[tokio::test]
async fn unknown_keys_and_wrong_types_are_refused() {
    for (config, named) in [
        (json!({ "total": 1 }), "total"),
        (json!({ "treasury": "0x1" }), "40 hex digits"),
        (json!({ "block_price_wei": "1.5" }), "78 decimal digits"),
    ] {
        let reason = reason(config).await;
        assert!(reason.contains(named), "{named}: {reason}");
    }
}
