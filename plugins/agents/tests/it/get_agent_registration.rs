//! `GET /api/agents/{id}/erc8004.json`

use super::{
    CONTRACTS, Site, records,
    script::{PAUSED, account, agent, registered, status},
    sites, sites_with,
};
use plugin_testing::{Builder, ScriptedChain, TestGateway, Value, json};

/// Checks the requirements of ERC-8004 on a registration file.
fn assert_valid(file: &Value) {
    let schema = json!({
        "type": "object",
        "required": ["type", "name", "description", "image", "services", "x402Support", "active", "registrations"],
        "properties": {
            "type": { "const": "https://eips.ethereum.org/EIPS/eip-8004#registration-v1" },
            "name": { "type": "string", "minLength": 1 },
            "description": { "type": "string", "minLength": 1 },
            "image": { "type": "string", "pattern": "^https?://" },
            "services": {
                "type": "array",
                "items": {
                    "type": "object", "required": ["name", "endpoint"],
                    "properties": {
                        // Readers refuse a file with any other name.
                        "name": { "enum": ["MCP", "A2A", "ENS", "DID", "wallet", "OASF"] }, "endpoint": { "type": "string", "minLength": 1 },
                        "version": { "type": "string" }
                    }
                }
            },
            "x402Support": { "type": "boolean" },
            "active": { "type": "boolean" },
            "registrations": {
                "type": "array",
                "items": {
                    "type": "object", "required": ["agentId", "agentRegistry"],
                    "properties": {
                        "agentId": { "type": "integer", "minimum": 1 },
                        "agentRegistry": { "type": "string", "pattern": "^eip155:[0-9]+:0x[0-9a-fA-F]{40}$" }
                    }
                }
            },
            "supportedTrust": { "type": "array", "items": { "type": "string" } }
        }
    });
    let errors: Vec<String> =
        jsonschema::validator_for(&schema).unwrap().iter_errors(file).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?} in {file:#}");
}

async fn file(site: &Site, id: u64) -> Value {
    site.read(&format!("/api/agents/{id}/erc8004.json")).await
}

#[tokio::test]
async fn the_file_is_what_the_standard_asks_for() {
    let with_records = |builder: Builder| builder.plugin(records::plugin_module());
    for site in sites_with(vec![registered(1, 7, "Miner", "https://a.example/")], with_records).await {
        let response = site.gateway.get("/api/agents/1/erc8004.json").await;
        assert_eq!(response.headers["cache-control"], "public, max-age=60");
        let file = response.json();
        assert_valid(&file);
        let base = "http://127.0.0.1:8080";
        assert_eq!(file["name"], "Miner");
        assert_eq!((&file["active"], &file["x402Support"]), (&json!(true), &json!(false)));
        assert_eq!(file["image"], format!("{base}/api/cv/1/badge.svg"));
        assert_eq!(file["supportedTrust"], json!(["reputation", "validation"]));
        let identity = ScriptedChain::address_of("identity8004");
        assert_eq!(
            file["registrations"],
            json!([{ "agentId": 1, "agentRegistry": format!("eip155:3961:{identity}") }])
        );
        assert_eq!(
            file["services"],
            json!([{ "name": "A2A", "endpoint": format!("{base}/a/1/.well-known/agent.json"), "version": "0.3" }])
        );
        assert_eq!(
            file["x-service"],
            json!({
                "agentId": 1, "owner": account(7), "agentRegistry": ScriptedChain::address_of("registry"),
                "identityRegistry": identity, "reputationRegistry": ScriptedChain::address_of("reputation8004"),
                "validationRegistry": ScriptedChain::address_of("validation8004"), "chainId": 3961,
                "pricePerJob": "5", "capabilities": [], "model": null,
                "services": [
                    {
                        "name": "service", "endpoint": "https://a.example/", "version": "1",
                        "card": "https://a.example/.well-known/service-agent.json",
                    },
                    { "name": "x402", "endpoint": format!("{base}/a/1/invoke"), "version": "1" },
                    { "name": "gateway", "endpoint": format!("{base}/api/agents/1") },
                ],
            })
        );
        site.close().await;
    }
}

#[tokio::test]
async fn an_agent_without_endpoint_that_is_paused_has_a_file() {
    for site in sites(vec![[agent(1), vec![status(1, PAUSED)]].concat()]).await {
        let file = file(&site, 1).await;
        assert_valid(&file);
        assert_eq!(file["active"], false);
        assert_eq!(file["services"], json!([]), "no plugin serves cards");
        assert_eq!(file["image"], "http://127.0.0.1:8080/docs/icon.svg");
        let own: Vec<&Value> =
            file["x-service"]["services"].as_array().unwrap().iter().map(|own| &own["name"]).collect();
        assert_eq!(own, ["gateway"]);
        site.close().await;
    }
}

#[tokio::test]
async fn without_the_identity_registry_the_agent_is_in_none() {
    let chain = ScriptedChain::start().await;
    chain.mine(agent(1));
    let builder = TestGateway::builder().plugin(agents::plugin_module()).chain(&chain, &CONTRACTS[..2]);
    let site = Site { gateway: builder.start().await, chain };
    site.gateway.indexed(&site.chain).await;
    let file = file(&site, 1).await;
    assert_valid(&file);
    assert_eq!(file["registrations"], json!([]));
    assert!(file["x-service"]["registrationsNote"].is_string());
    assert_eq!(file["x-service"]["identityRegistry"], Value::Null);
    site.close().await;
}

#[tokio::test]
async fn the_brand_is_the_deployments() {
    let branded =
        |builder: plugin_testing::Builder| builder.configure(|config| config.brand.marker = "ferminux".to_owned());
    for site in sites_with(vec![registered(1, 1, "x", "https://a.example")], branded).await {
        let file = file(&site, 1).await;
        assert_valid(&file);
        let own = &file["x-ferminux"]["services"][0];
        assert_eq!(own["name"], "ferminux");
        assert_eq!(own["card"], "https://a.example/.well-known/ferminux-agent.json");
        assert_eq!(file["x-ferminux"]["agentId"], 1);
        site.close().await;
    }
}

#[tokio::test]
async fn an_unknown_agent_has_no_registration_file() {
    for site in sites(vec![agent(1)]).await {
        for unknown in ["2", "0", "x"] {
            let response = site.gateway.get(&format!("/api/agents/{unknown}/erc8004.json")).await;
            assert_eq!((response.status, response.json()["code"].as_str()), (404, Some("not_found")), "{unknown}");
        }
        site.close().await;
    }
}
