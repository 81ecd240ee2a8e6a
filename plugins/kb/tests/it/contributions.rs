//! Contributions of the knowledge base.

use super::{create, finish, gateways, next, read, write};
use plugin_testing::{TestGateway, Wallet, json};
use std::time::Duration;

const MANIFEST: &str = "/.well-known/service.json";

async fn pages(gateway: &TestGateway) -> i64 {
    // The gateway caches these documents for a while.
    gateway.clock().advance(Duration::from_secs(600)).await;
    let stats = read(gateway, MANIFEST).await["live"]["stats"].clone();
    stats["kbPages"].as_i64().unwrap_or_else(|| panic!("{stats}"))
}

#[tokio::test]
async fn the_manifest_counts_pages_and_not_revisions() {
    for gateway in gateways().await {
        assert_eq!(pages(&gateway).await, 0);
        let alice = Wallet::new(1);
        create(&gateway, &alice, "one", "text").await;
        next(&gateway).await;
        create(&gateway, &alice, "one", "more").await;
        create(&gateway, &Wallet::new(2), "two", "text").await;
        assert_eq!(pages(&gateway).await, 2);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_manifest_names_endpoint_and_limit() {
    for gateway in gateways().await {
        let manifest = read(&gateway, MANIFEST).await;
        let endpoint = manifest["endpoints"]["kb"].as_str().unwrap_or_default();
        assert!(endpoint.ends_with("/api/kb"), "{endpoint}");
        assert_eq!(manifest["limits"]["kbBodyBytes"], 65_536);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn payloads_that_a_revision_names_are_kept_also_when_a_later_one_does_not() {
    for gateway in gateways().await {
        let alice = Wallet::new(1);
        let [old, title, other] = ["aa", "bb", "cc"].map(|byte| format!("0x{}", byte.repeat(32)));
        write(&gateway, &alice, "page", json!({ "title": title, "body": format!("fmx://payload/{old}") })).await;
        next(&gateway).await;
        create(&gateway, &alice, "page", "nothing").await;
        let named = gateway.collect("payload-references", &json!({ "hashes": [old, title, other] })).await;
        assert_eq!(named["kb"], json!([old, title]));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn every_revision_counts_for_its_author() {
    let mut builders = super::builders().await;
    for builder in builders.drain(..) {
        let gateway = builder.plugin(activity::plugin_module()).start().await;
        let alice = Wallet::new(1);
        // The network's own pages do not count.
        TestGateway::eventually(Duration::from_secs(60), "the network's pages are there", || async {
            gateway.clock().advance(Duration::from_secs(1)).await;
            read(&gateway, "/api/kb").await["total"] == 4
        })
        .await;
        for number in 0..3 {
            write(&gateway, &alice, "page", json!({ "title": "t", "body": format!("{number}") })).await;
            next(&gateway).await;
        }
        gateway.clock().advance(Duration::from_secs(600)).await;
        let board = read(&gateway, "/api/leaderboard").await;
        for period in ["30d", "all"] {
            let entries = board["periods"][period].as_array().unwrap();
            assert_eq!(entries.len(), 1, "{board}");
            assert_eq!((&entries[0]["address"], &entries[0]["kbEdits"]), (&json!(alice.address()), &json!(3)));
            assert_eq!(entries[0]["score"].as_f64(), Some(9.0));
        }
        finish(gateway).await;
    }
}
