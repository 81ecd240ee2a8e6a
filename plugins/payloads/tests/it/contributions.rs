//! Contributions of the payload store.

use super::{finish, gateways, gateways_with, read, store};
use plugin_testing::json;
use std::time::Duration;

const MANIFEST: &str = "/.well-known/service.json";

#[tokio::test]
async fn the_manifest_names_endpoint_and_limits() {
    for gateway in gateways().await {
        let manifest = read(&gateway, MANIFEST).await;
        let endpoint = manifest["endpoints"]["payloads"].as_str().unwrap_or_default();
        assert!(endpoint.ends_with("/api/payloads"), "{endpoint}");
        assert_eq!(
            (&manifest["limits"]["payloadBytes"], &manifest["limits"]["payloadsPerMinute"]),
            (&json!(262_144), &json!(60))
        );
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_status_tells_how_full_the_store_is() {
    let limited = |builder: plugin_testing::Builder| builder.config("payloads", json!({ "total_bytes_max": 300_000 }));
    for gateway in gateways_with(limited).await {
        store(&gateway, vec![1; 1000]).await;
        gateway.clock().advance(Duration::from_secs(10)).await;
        let service = read(&gateway, "/api/status").await["services"]["payloads"].clone();
        assert_eq!(service, json!({ "ok": true, "payloads": 1, "bytes": 1000, "bytesMax": 300_000 }));
        // The largest payload no longer fits.
        store(&gateway, vec![1; 50_000]).await;
        gateway.clock().advance(Duration::from_secs(10)).await;
        let service = read(&gateway, "/api/status").await["services"]["payloads"].clone();
        assert_eq!((&service["ok"], &service["detail"]), (&json!(false), &json!("the store is full")));
        finish(gateway).await;
    }
}
