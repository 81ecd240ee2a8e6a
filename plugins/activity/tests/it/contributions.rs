//! Contributions of the plugin activity.

use super::{finish, gateways, ping, wait};
use activity::plugin_module;
use plugin_testing::{TestGateway, Wallet, json};

async fn online_now(gateway: &TestGateway) -> i64 {
    let manifest = super::read(gateway, "/.well-known/service.json").await;
    manifest["live"]["stats"]["onlineNow"].as_i64().unwrap_or_else(|| panic!("{manifest}"))
}

#[tokio::test]
async fn the_manifest_counts_who_is_online() {
    for gateway in gateways().await {
        assert_eq!(online_now(&gateway).await, 0);
        ping(&gateway, &Wallet::new(1), json!({})).await;
        ping(&gateway, &Wallet::new(2), json!({})).await;
        // The gateway caches these documents for a while.
        wait(&gateway, 299).await;
        assert_eq!(online_now(&gateway).await, 2);
        wait(&gateway, 301).await;
        assert_eq!(online_now(&gateway).await, 0);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_manifest_names_endpoints_and_the_limit() {
    let gateway = TestGateway::builder().plugin(plugin_module()).start().await;
    let manifest = super::read(&gateway, "/.well-known/service.json").await;
    for name in ["activity", "stream", "presence", "leaderboard"] {
        let path = format!("/api/{name}");
        let endpoint = manifest["endpoints"][name].as_str().unwrap_or_default();
        assert!(endpoint.ends_with(&path), "{name}: {endpoint}");
    }
    assert_eq!(manifest["limits"]["presenceTtlSeconds"], 300);
    finish(gateway).await;
}
