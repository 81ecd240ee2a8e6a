//! What the log adds to documents about the gateway.

use super::{Value, close, gateways, health, json, publish, signed};

#[tokio::test]
async fn status_health_and_manifest_have_the_log() {
    for gateway in gateways().await {
        publish(&gateway, 2).await;
        signed(&gateway, 2).await;
        assert_eq!(health(&gateway).await, json!({ "ok": true, "size": 2 }));
        let manifest = gateway.get("/.well-known/service.json").await.json();
        let log = &manifest["log"];
        assert_eq!((&log["origin"], &log["previous"]), (&json!(super::ORIGIN), &Value::Null));
        assert!(log["publicKey"].as_str().unwrap().starts_with("log.example/test+"), "{log}");
        assert!(log["prefix"].as_str().unwrap().ends_with("/api/log"), "{log}");
        let status = gateway.get("/api/status").await.json();
        let service = &status["services"]["transparencyLog"];
        assert_eq!((&service["ok"], &service["size"]), (&json!(true), &json!(2)), "{status}");
        // The key is nowhere but sealed.
        let sealed = gateway.rows("SELECT length(sealed_key) FROM transparency_origins").await;
        assert_eq!(sealed, ["Int(81)"]);
        close(gateway).await;
    }
}
