//! What activity adds to the gateway's own documents.

use super::{finish, houses, ping, wait};
use activity::plugin_module;
use plugin_testing::{TestGateway, Wallet, json};

async fn online_now(house: &TestGateway) -> i64 {
    let manifest = super::read(house, "/.well-known/service.json").await;
    manifest["live"]["stats"]["onlineNow"].as_i64().unwrap_or_else(|| panic!("{manifest}"))
}

#[tokio::test]
async fn the_manifest_counts_who_is_online() {
    for house in houses().await {
        assert_eq!(online_now(&house).await, 0);
        ping(&house, &Wallet::new(1), json!({})).await;
        ping(&house, &Wallet::new(2), json!({})).await;
        // The gateway may keep a document for a while.
        wait(&house, 299).await;
        assert_eq!(online_now(&house).await, 2);
        wait(&house, 301).await;
        assert_eq!(online_now(&house).await, 0);
        finish(house).await;
    }
}

#[tokio::test]
async fn the_manifest_names_endpoints_and_the_limit() {
    let house = TestGateway::builder().plugin(plugin_module()).start().await;
    let manifest = super::read(&house, "/.well-known/service.json").await;
    for name in ["activity", "stream", "presence", "leaderboard"] {
        let path = format!("/api/{name}");
        let endpoint = manifest["endpoints"][name].as_str().unwrap_or_default();
        assert!(endpoint.ends_with(&path), "{name}: {endpoint}");
    }
    assert_eq!(manifest["limits"]["presenceTtlSeconds"], 300);
    finish(house).await;
}
