//! Contributions of artifacts.

use super::{finish, gateways, next, publish, publish_named, read, star, store};
use plugin_testing::{TestGateway, Wallet, json};
use std::time::Duration;

const MANIFEST: &str = "/.well-known/service.json";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const LIMIT: Duration = Duration::from_secs(60);

#[tokio::test]
async fn the_manifest_counts_and_names_artifacts() {
    for gateway in gateways().await {
        publish_named(&gateway, &Wallet::new(1), "one").await;
        publish_named(&gateway, &Wallet::new(2), "two").await;
        // The gateway caches these documents for a while.
        gateway.clock().advance(Duration::from_secs(600)).await;
        let manifest = read(&gateway, MANIFEST).await;
        assert_eq!(manifest["live"]["stats"]["artifacts"], 2);
        let endpoint = manifest["endpoints"]["artifacts"].as_str().unwrap_or_default();
        assert!(endpoint.ends_with("/api/artifacts"), "{endpoint}");
        assert_eq!(manifest["limits"]["artifactNameChars"], 120);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_leaderboard_counts_artifacts_and_stars_in_their_time() {
    let plugins = [activity::plugin_module(), artifacts::plugin_module(), payloads::plugin_module()];
    for gateway in TestGateway::each_database(&plugins).await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        let old = publish_named(&gateway, &alice, "old").await;
        star(&gateway, &Wallet::new(3), old).await;
        gateway.clock().advance(DAY * 40).await;
        publish_named(&gateway, &alice, "new").await;
        star(&gateway, &Wallet::new(4), old).await;
        publish_named(&gateway, &bob, "his").await;
        let board = read(&gateway, "/api/leaderboard").await;
        let part = |period: &str, rank: usize| {
            let entry = board["periods"][period][rank].clone();
            json!([entry["address"], entry["artifacts"], entry["starsReceived"]])
        };
        assert_eq!(part("all", 0), json!([alice.address(), 2, 2]));
        assert_eq!(part("30d", 0), json!([alice.address(), 1, 1]));
        assert_eq!(part("30d", 1), json!([bob.address(), 1, 0]));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn payloads_of_artifacts_and_in_their_texts_stay() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let (content, mentioned, forgotten) =
            (store(&gateway, "content").await, store(&gateway, "mentioned").await, store(&gateway, "forgotten").await);
        publish(&gateway, &alice, json!({ "name": "n", "kind": "code", "payloadHash": content })).await;
        next(&gateway).await;
        let text = format!("see fmx://payload/{mentioned}");
        let payload = json!({ "name": "n", "kind": "code", "description": text, "url": "https://a.example" });
        publish(&gateway, &alice, payload).await;
        gateway.clock().advance(DAY * 31).await;
        let there = async |hash: &str| gateway.get(&format!("/api/payloads/{hash}")).await.status == 200;
        TestGateway::eventually(LIMIT, "what nothing mentions is deleted", || async {
            gateway.clock().advance(Duration::from_secs(600)).await;
            !there(&forgotten).await
        })
        .await;
        assert!(there(&content).await && there(&mentioned).await);
        finish(gateway).await;
    }
}
