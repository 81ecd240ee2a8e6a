//! What the store adds to the gateway's own documents.

use super::{finish, houses, houses_with, read, store};
use plugin_testing::json;
use std::time::Duration;

const MANIFEST: &str = "/.well-known/service.json";

#[tokio::test]
async fn the_manifest_names_endpoint_and_limits() {
    for house in houses().await {
        let manifest = read(&house, MANIFEST).await;
        let endpoint = manifest["endpoints"]["payloads"].as_str().unwrap_or_default();
        assert!(endpoint.ends_with("/api/payloads"), "{endpoint}");
        assert_eq!(
            (&manifest["limits"]["payloadBytes"], &manifest["limits"]["payloadsPerMinute"]),
            (&json!(262_144), &json!(60))
        );
        finish(house).await;
    }
}

#[tokio::test]
async fn the_status_tells_how_full_the_store_is() {
    let limited = |builder: plugin_testing::Builder| builder.config("payloads", json!({ "total_bytes_max": 300_000 }));
    for house in houses_with(limited).await {
        store(&house, vec![1; 1000]).await;
        house.clock().advance(Duration::from_secs(10)).await;
        let service = read(&house, "/api/status").await["services"]["payloads"].clone();
        assert_eq!(service, json!({ "ok": true, "payloads": 1, "bytes": 1000, "bytesMax": 300_000 }));
        // The largest payload does not fit any more.
        store(&house, vec![1; 50_000]).await;
        house.clock().advance(Duration::from_secs(10)).await;
        let service = read(&house, "/api/status").await["services"]["payloads"].clone();
        assert_eq!((&service["ok"], &service["detail"]), (&json!(false), &json!("the store is full")));
        finish(house).await;
    }
}
