//! What artifacts add to the gateway's own documents and to other plugins.

use super::{finish, houses, next, publish, publish_named, read, star, store};
use plugin_testing::{TestGateway, Wallet, json};
use std::time::Duration;

const MANIFEST: &str = "/.well-known/service.json";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const LIMIT: Duration = Duration::from_secs(60);

#[tokio::test]
async fn the_manifest_counts_and_names_artifacts() {
    for house in houses().await {
        publish_named(&house, &Wallet::new(1), "one").await;
        publish_named(&house, &Wallet::new(2), "two").await;
        // The gateway may keep a document for a while.
        house.clock().advance(Duration::from_secs(600)).await;
        let manifest = read(&house, MANIFEST).await;
        assert_eq!(manifest["live"]["stats"]["artifacts"], 2);
        let endpoint = manifest["endpoints"]["artifacts"].as_str().unwrap_or_default();
        assert!(endpoint.ends_with("/api/artifacts"), "{endpoint}");
        assert_eq!(manifest["limits"]["artifactNameChars"], 120);
        finish(house).await;
    }
}

#[tokio::test]
async fn the_leaderboard_counts_artifacts_and_stars_in_their_time() {
    let plugins = [activity::plugin_module(), artifacts::plugin_module(), payloads::plugin_module()];
    for house in TestGateway::each_database(&plugins).await {
        let (alice, bob) = (Wallet::new(1), Wallet::new(2));
        let old = publish_named(&house, &alice, "old").await;
        star(&house, &Wallet::new(3), old).await;
        house.clock().advance(DAY * 40).await;
        publish_named(&house, &alice, "new").await;
        star(&house, &Wallet::new(4), old).await;
        publish_named(&house, &bob, "his").await;
        let board = read(&house, "/api/leaderboard").await;
        let part = |period: &str, rank: usize| {
            let entry = board["periods"][period][rank].clone();
            json!([entry["address"], entry["artifacts"], entry["starsReceived"]])
        };
        assert_eq!(part("all", 0), json!([alice.address(), 2, 2]));
        assert_eq!(part("30d", 0), json!([alice.address(), 1, 1]));
        assert_eq!(part("30d", 1), json!([bob.address(), 1, 0]));
        finish(house).await;
    }
}

#[tokio::test]
async fn payloads_of_artifacts_and_in_their_texts_stay() {
    for house in houses().await {
        let alice = Wallet::new(1);
        let (content, mentioned, forgotten) =
            (store(&house, "content").await, store(&house, "mentioned").await, store(&house, "forgotten").await);
        publish(&house, &alice, json!({ "name": "n", "kind": "code", "payloadHash": content })).await;
        next(&house).await;
        let text = format!("see fmx://payload/{mentioned}");
        let payload = json!({ "name": "n", "kind": "code", "description": text, "url": "https://a.example" });
        publish(&house, &alice, payload).await;
        house.clock().advance(DAY * 31).await;
        let there = async |hash: &str| house.get(&format!("/api/payloads/{hash}")).await.status == 200;
        TestGateway::eventually(LIMIT, "what nothing mentions is deleted", || async {
            house.clock().advance(Duration::from_secs(600)).await;
            !there(&forgotten).await
        })
        .await;
        assert!(there(&content).await && there(&mentioned).await);
        finish(house).await;
    }
}
