//! Contributions of the webhooks.

use super::{Endpoint, SECRET, Site, owner, sites, sites_with};
use plugin_testing::{Value, json};

async fn read(site: &Site, path: &str) -> Value {
    site.wait(10).await;
    let response = site.gateway.get(path).await;
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    response.json()
}

#[tokio::test]
async fn stats_and_status_count() {
    for site in sites_with(json!({ "retry_s": [600] })).await {
        let endpoint = Endpoint::start().await;
        let status = async || read(&site, "/api/status").await["services"]["webhooks"].clone();
        let none = json!({ "ok": true, "active": 0, "pending": 0, "failed24h": 0, "tickMs": 500, "rowsOfOldKeys": 0 });
        assert_eq!(status().await, none);
        let id = site.webhook(&owner(), &endpoint, &["dm.received"]).await["id"].clone();
        let off = json!({ "url": "https://hooks.test/", "secret": SECRET, "events": ["dm.received"], "active": false });
        assert_eq!(site.set(&owner(), off).await.status, 201);
        endpoint.fail(2);
        assert_eq!(site.test(&owner(), &id).await.status, 202);
        site.until_status(&owner(), "failed", 1).await;
        site.message("m").await;
        endpoint.calls(2).await;
        let counted = status().await;
        assert_eq!((&counted["active"], &counted["pending"], &counted["failed24h"]), (&json!(1), &json!(1), &json!(1)));
        assert_eq!(read(&site, "/api/stats").await["webhooks"], 1);
        site.close().await;
    }
}

#[tokio::test]
async fn many_waiting_deliveries_are_a_problem() {
    for site in sites().await {
        // No key has them, so they are not due.
        let insert =
            "INSERT INTO webhooks_queue (key, group_key, payload, pushed_ms, due_ms) VALUES ('x', 'x', '{}', 0, 1)";
        for _ in 0..9 {
            site.gateway.execute(insert).await;
        }
        let double = "INSERT INTO webhooks_queue (key, group_key, payload, pushed_ms, due_ms) \
            SELECT key, group_key, payload, pushed_ms, due_ms FROM webhooks_queue";
        for _ in 0..6 {
            site.gateway.execute(double).await;
        }
        let service = read(&site, "/api/status").await["services"]["webhooks"].clone();
        assert_eq!((&service["ok"], &service["detail"]), (&json!(false), &json!("many deliveries wait")));
        site.close().await;
    }
}

#[tokio::test]
async fn documents_name_the_endpoint_and_the_events() {
    for site in sites().await {
        let manifest = read(&site, "/.well-known/service.json").await;
        let endpoint = manifest["endpoints"]["webhooks"].as_str().unwrap();
        assert!(endpoint.ends_with("/api/webhooks"), "{endpoint}");
        let events = manifest["webhookEvents"].as_array().unwrap();
        assert!(events.len() == 12 && events.contains(&json!("validation.done")), "{events:?}");
        let card = read(&site, "/.well-known/agent.json").await;
        assert!(card["skills"].as_array().unwrap().iter().any(|skill| skill["id"] == "webhooks-memory"), "{card}");
        site.close().await;
    }
}
