//! What documents about the network say of calls.

use super::{script::registered, sites};
use plugin_testing::{TestGateway, Value, json};

#[tokio::test]
async fn the_manifest_and_the_card_say_how_agents_are_called() {
    for site in sites(registered(1, 7, "Miner", "")).await {
        let manifest = site.gateway.get("/.well-known/service.json").await.json();
        for (name, path) in [
            ("a2aCard", "/a/{slug}/.well-known/agent-card.json"),
            ("agentInvoke", "/a/{slug}/invoke"),
            ("agentA2a", "/a/{slug}/a2a"),
        ] {
            assert!(manifest["endpoints"][name].as_str().is_some_and(|url| url.ends_with(path)), "{name}");
        }
        assert_eq!(manifest["limits"]["invokeBytes"], 1024 * 1024);
        let card = site.gateway.get("/.well-known/agent.json").await.json();
        let skills: Vec<&Value> = card["skills"].as_array().unwrap().iter().map(|skill| &skill["id"]).collect();
        assert!(skills.contains(&&json!("a2a-frc8004")), "{skills:?}");
        site.close().await;
    }
}

#[tokio::test]
async fn agents_name_their_cards_while_the_plugin_is_on() {
    for site in sites(registered(1, 7, "Miner", "")).await {
        let links = site.gateway.get("/api/agents/1").await.json()["links"].clone();
        assert_eq!(links["a2a"], "http://127.0.0.1:8080/a/1/.well-known/agent.json");
        assert_eq!((&links["invoke"], &links["x402"]), (&json!("http://127.0.0.1:8080/a/1/invoke"), &Value::Null));
        site.close().await;
    }
}

#[tokio::test]
async fn the_status_counts_calls_that_wait() {
    for site in sites(registered(1, 7, "Miner", "")).await {
        let status = site.gateway.collect("status", &json!({})).await;
        assert_eq!(status["a2a"], json!({ "a2a": { "ok": true, "inFlight": 0, "inFlightMax": 64 } }));
        site.close().await;
    }
}

#[tokio::test]
async fn wrong_values_and_unknown_keys_are_refused() {
    for (config, part) in [
        (json!({ "calls_max": 0 }), "calls_max is 0"),
        (json!({ "upstreams": ["https://a.example"] }), "upstream_secret"),
        (json!({ "calls": 5 }), "calls"),
    ] {
        let modules = [agents::plugin_module(), payloads::plugin_module(), a2a::plugin_module()];
        let builder = modules.into_iter().fold(TestGateway::builder(), plugin_testing::Builder::plugin);
        let gateway = builder.config("a2a", config).open().await;
        let reason = gateway.reports().await.into_iter().find(|report| report.name == "a2a").unwrap().reason;
        assert!(reason.contains(part), "{reason}");
        gateway.stop().await;
    }
}
