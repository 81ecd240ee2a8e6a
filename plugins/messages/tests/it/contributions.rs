//! Contributions of messages.

use super::{Site, script::registered_by, sites, sites_with};
use plugin_api::{Hash256, point};
use plugin_testing::{Value, Wallet, json};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

async fn read(site: &Site, path: &str) -> Value {
    let response = site.gateway.get(path).await;
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    response.json()
}

#[tokio::test]
async fn the_manifest_counts_messages_and_names_the_endpoints() {
    for site in sites(Vec::new()).await {
        site.send(&Wallet::new(1), json!({ "to": Wallet::new(2).address(), "body": "b" })).await;
        // The gateway caches these documents for a while.
        site.wait(600).await;
        let manifest = read(&site, "/.well-known/service.json").await;
        assert_eq!(manifest["live"]["stats"]["messages"], 1);
        for (name, path) in [("messages", "/api/messages"), ("inbox", "/api/messages/inbox")] {
            let endpoint = manifest["endpoints"][name].as_str().unwrap_or_default();
            assert!(endpoint.ends_with(path), "{name}: {endpoint}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn the_status_shows_waiting_messages() {
    for site in sites_with(1, Vec::new()).await {
        let server = MockServer::start().await;
        Mock::given(any()).respond_with(ResponseTemplate::new(200).set_body_string("ok")).mount(&server).await;
        site.mine(registered_by(7, Wallet::new(2).address(), "seven", &server.uri())).await;
        // The copy waits for the only place among the plugin's requests.
        let _only_place = site.gateway.take_outbound_place("messages", &server.uri()).await;
        let service = || async { read(&site, "/api/status").await["services"]["messageForwarding"].clone() };
        assert_eq!(service().await, json!({ "ok": true, "waiting": 0, "oldestWaitingAgeS": null }));
        site.send(&Wallet::new(1), json!({ "to": 7, "body": "b" })).await;
        assert_eq!(service().await, json!({ "ok": true, "waiting": 1, "oldestWaitingAgeS": 0 }));
        site.close().await;
    }
}

#[tokio::test]
async fn messages_do_not_start_without_agents() {
    let builder = plugin_testing::TestGateway::builder().plugin(messages::plugin_module());
    let gateway = builder.open().await;
    assert_eq!(gateway.get("/api/messages/inbox").await.status, 404);
    assert!(gateway.reports().await.iter().any(|report| report.name == "messages" && report.reason.contains("agents")));
    gateway.stop().await;
}

#[tokio::test]
async fn payloads_in_texts_stay() {
    for site in sites(Vec::new()).await {
        let [in_subject, in_body, nowhere] = [1, 2, 3].map(|byte| Hash256([byte; 32]));
        let body = format!("see fmx://payload/{in_body}");
        let to = Wallet::new(2).address().to_owned();
        site.send(&Wallet::new(1), json!({ "to": to, "body": body, "subject": in_subject.to_string() })).await;
        let asked = json!({ "hashes": [nowhere, in_body, in_subject] });
        let responses = site.gateway.collect(point::PAYLOAD_REFERENCES.name(), &asked).await;
        assert_eq!(responses["messages"], json!([in_subject, in_body]));
        site.close().await;
    }
}
