//! Contributions of the memory.

use super::{
    RECORD_BYTES, VALUE_BYTES_MAX, ZERO, delete, finish,
    fixture::{anchored, owner, sites},
    gateways, gateways_with, read, store,
};
use plugin_testing::{Wallet, json};
use std::time::Duration;

#[tokio::test]
async fn statistics_are_sums() {
    for site in sites().await {
        store(&site.gateway, &owner(), "a", json!("four")).await;
        store(&site.gateway, &Wallet::new(5), "a", json!("five!")).await;
        store(&site.gateway, &owner(), "b", json!("gone")).await;
        assert_eq!(delete(&site.gateway, &owner(), "b").await.status, 200);
        let batch = site.anchor(&owner(), json!({})).await.json();
        site.mine(vec![anchored(1, 1, &batch["root"], &json!(ZERO), 3)]).await;
        site.gateway.clock().advance(Duration::from_secs(10)).await;
        let stats = read(&site.gateway, "/api/stats").await;
        assert_eq!(
            (&stats["memoryBytes"], &stats["memoryRecords"], &stats["memoryAnchored"]),
            (&json!(9), &json!(4), &json!(1))
        );
        site.close().await;
    }
}

#[tokio::test]
async fn the_status_tells_how_full_the_memory_is() {
    let wallet = Wallet::new(1);
    let total = i64::try_from(VALUE_BYTES_MAX).unwrap() + 3 * RECORD_BYTES;
    for gateway in gateways_with(|builder| builder.config("memory", json!({ "total_bytes": total }))).await {
        store(&gateway, &wallet, "a", json!("")).await;
        gateway.clock().advance(Duration::from_secs(10)).await;
        let service = read(&gateway, "/api/status").await["services"]["memory"].clone();
        let expected = json!({ "ok": true, "bytes": RECORD_BYTES, "bytesMax": total, "rowsOfOldKeys": 0 });
        assert_eq!(service, expected);
        store(&gateway, &wallet, "a", json!("x".repeat(2000))).await;
        gateway.clock().advance(Duration::from_secs(10)).await;
        let service = read(&gateway, "/api/status").await["services"]["memory"].clone();
        assert_eq!((&service["ok"], &service["detail"]), (&json!(false), &json!("the memory is full")));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_manifest_names_endpoints_and_limits() {
    for gateway in gateways().await {
        let manifest = read(&gateway, "/.well-known/service.json").await;
        for (name, path) in [
            ("memory", "/api/memory"),
            ("memoryAnchor", "/api/memory/anchor"),
            ("memoryAnchors", "/api/memory/anchors"),
            ("memoryProof", "/api/memory/proof/{agentId}/{seq}"),
        ] {
            let endpoint = manifest["endpoints"][name].as_str().unwrap_or_default();
            assert!(endpoint.ends_with(path), "{name}: {endpoint}");
        }
        let limits = &manifest["limits"];
        assert_eq!((&limits["memoryValueBytes"], &limits["memoryFreeBytes"]), (&json!(65_536), &json!(5_242_880)));
        finish(gateway).await;
    }
}
