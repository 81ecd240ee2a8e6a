//! `GET /a/{slug}/.well-known/agent-card.json`

use super::{
    BASE, Site, is, refusal,
    script::{PAUSED, account, registered, status},
    sites,
};
use plugin_testing::{Value, json};

fn card_path(name: &str) -> String {
    format!("/a/{name}/.well-known/agent-card.json")
}

async fn card(site: &Site, name: &str) -> Value {
    let response = site.gateway.get(&card_path(name)).await;
    assert_eq!(response.status, 200, "{name}: {}", response.text());
    response.json()
}

#[tokio::test]
async fn a_card_has_the_members_of_every_version() {
    for site in sites(registered(1, 7, "Data Miner", "https://a.example/")).await {
        let url = format!("{BASE}/a/data-miner/a2a");
        let modes = json!(["text/plain", "application/json"]);
        let pay = card(&site, "1").await["authentication"]["credentials"].clone();
        assert!(pay.as_str().is_some_and(|text| text.contains("PAYMENT")));
        assert_eq!(
            card(&site, "data-miner").await,
            json!({
                "protocolVersion": "0.3.0", "name": "Data Miner", "description": "Agent 1 of the Service network",
                "url": url, "preferredTransport": "JSONRPC",
                "supportedInterfaces": [
                    { "url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0" },
                    { "url": url, "protocolBinding": "JSONRPC", "protocolVersion": "0.3" },
                ],
                "version": "1.0.0", "provider": { "organization": "Service", "url": BASE },
                "documentationUrl": format!("{BASE}/docs"), "iconUrl": format!("{BASE}/docs/icon.svg"),
                "capabilities": { "streaming": false, "pushNotifications": false, "stateTransitionHistory": false },
                "defaultInputModes": modes, "defaultOutputModes": ["application/json"],
                "skills": [{
                    "id": "invoke", "name": "invoke", "description": "Call the agent with a text or with data",
                    "tags": ["service"], "inputModes": modes, "outputModes": ["application/json"],
                }],
                "authentication": { "schemes": ["x402-service"], "credentials": pay },
                "securitySchemes": { "x402-service": { "type": "http", "scheme": "x402", "description": pay } },
                "security": [],
                "service": {
                    "agentId": 1, "owner": account(7), "endpoint": "https://a.example/", "pricePerJob": "5",
                    "pricePerCall": null, "invoke": format!("{BASE}/a/data-miner/invoke"),
                    "erc8004": format!("{BASE}/api/agents/1/erc8004.json"), "agent": format!("{BASE}/api/agents/1"),
                    "online": false, "gateway": site.gateway.gateway().environment.gateway_version,
                },
            })
        );
        site.close().await;
    }
}

#[tokio::test]
async fn a_card_says_what_the_agent_declares() {
    let endpoint = "https://a.example";
    for site in sites(registered(1, 7, "Data Miner", endpoint)).await {
        let declared = json!({
            "service": 1, "description": "Digs", "version": "2.1", "capabilities": ["Dig Deep", "sort"],
            "image": "https://i.example/x.png", "pricePerCall": "12",
        });
        site.store_card(1, endpoint, &declared).await;
        let card = card(&site, "1").await;
        assert_eq!((&card["description"], &card["version"]), (&json!("Digs"), &json!("2.1")));
        assert_eq!(card["iconUrl"], "https://i.example/x.png");
        let skills: Vec<_> =
            card["skills"].as_array().unwrap().iter().map(|skill| (&skill["id"], &skill["tags"])).collect();
        let tags = json!(["service", "x402"]);
        assert_eq!(skills, [(&json!("dig-deep"), &tags), (&json!("sort"), &tags)]);
        assert_eq!(card["security"], json!([{ "x402-service": [] }]));
        assert_eq!(card["service"]["pricePerCall"], "12");
        site.close().await;
    }
}

#[tokio::test]
async fn a_client_of_1_0_gets_the_card_of_1_0_alone() {
    for site in sites(registered(1, 7, "Data Miner", "https://a.example")).await {
        site.store_card(1, "https://a.example", &json!({ "service": 1, "pricePerCall": "12" })).await;
        let get =
            async |version: &str| site.gateway.send("GET", &card_path("1"), &[("A2A-Version", version)], "").await;
        let card = get("1.0").await.json();
        let members: Vec<&str> = card.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            members,
            [
                "name",
                "description",
                "supportedInterfaces",
                "provider",
                "version",
                "documentationUrl",
                "iconUrl",
                "capabilities",
                "securitySchemes",
                "securityRequirements",
                "defaultInputModes",
                "defaultOutputModes",
                "skills",
            ]
        );
        let capabilities = json!({ "streaming": false, "pushNotifications": false, "extendedAgentCard": false });
        assert_eq!(card["capabilities"], capabilities);
        assert_eq!(card["securityRequirements"], json!([{ "schemes": { "x402-service": { "list": [] } } }]));
        assert_eq!(card["securitySchemes"]["x402-service"]["httpAuthSecurityScheme"]["scheme"], "x402");
        assert_eq!(card["supportedInterfaces"][0]["protocolVersion"], "1.0");
        // Any other version gets the card that all clients read.
        let every = site.gateway.get(&card_path("1")).await.json();
        for version in ["0.3", "", "2.0", "1"] {
            assert_eq!(get(version).await.json(), every, "{version}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn caches_keep_both_cards_apart() {
    for site in sites(registered(1, 7, "Data Miner", "https://a.example")).await {
        let get = async |headers: &[(&str, &str)]| site.gateway.send("GET", &card_path("1"), headers, "").await;
        let (every, v1) = (get(&[]).await, get(&[("a2a-version", "1.0")]).await);
        for response in [&every, &v1] {
            assert_eq!(response.headers["cache-control"], "public, max-age=60");
            let vary =
                response.headers.get_all("vary").iter().any(|vary| vary.to_str().unwrap().contains("A2A-Version"));
            assert!(vary, "{:?}", response.headers);
        }
        let (tag, v1_tag) = (every.headers["etag"].to_str().unwrap(), v1.headers["etag"].to_str().unwrap());
        assert_ne!(tag, v1_tag);
        assert_eq!(get(&[("if-none-match", tag)]).await.status, 304);
        assert_eq!(get(&[("if-none-match", tag), ("a2a-version", "1.0")]).await.status, 200);
        assert_eq!(get(&[("if-none-match", v1_tag), ("a2a-version", "1.0")]).await.status, 304);
        // A card that changed is sent again.
        site.store_card(1, "https://a.example", &json!({ "service": 1, "description": "Digs" })).await;
        assert_eq!(get(&[("if-none-match", tag)]).await.status, 200);
        site.close().await;
    }
}

#[tokio::test]
async fn an_agent_is_named_by_its_id_or_its_slug() {
    let names = ["Data Miner", "data--MINER!", "Café ☕", "日本語", "💎", "7", "Ⅳ"];
    let logs = (1..).zip(names).flat_map(|(id, name)| registered(id, id, name, "")).collect();
    for site in sites(logs).await {
        site.mine(vec![status(1, PAUSED)]).await;
        for (name, id) in [
            ("1", 1),
            ("2", 2),
            ("002", 2),
            // Of two agents with one slug the older one, although it is paused.
            ("data-miner", 1),
            ("Data-MINER", 1),
            ("cafe", 3),
            // Names without a letter of ASCII.
            ("agent", 4),
            ("5", 5),
            // Digits are an id, also where an agent is called so.
            ("7", 7),
            ("iv", 7),
        ] {
            let card = card(&site, name).await;
            assert_eq!(card["service"]["agentId"], id, "{name}");
            let segment = name.trim_start_matches('0').to_lowercase();
            assert_eq!(card["url"], format!("{BASE}/a/{segment}/a2a"), "the address leads to the same agent");
        }
        for unknown in
            ["8", "0", "99999999999999999999", "-1", "data", "data-miner-", "Caf%C3%A9", "%E6%97%A5", "a%2Fb", "%00"]
        {
            let response = site.gateway.get(&card_path(unknown)).await;
            assert_eq!(refusal(&response), is(404, "not_found"), "{unknown}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn an_agent_that_moved_shows_no_card_of_its_old_place() {
    for site in sites(registered(1, 7, "Data Miner", "https://new.example")).await {
        site.store_card(1, "https://old.example", &json!({ "service": 1, "description": "Digs", "pricePerCall": "5" }))
            .await;
        let card = card(&site, "1").await;
        assert_eq!(card["description"], "Agent 1 of the Service network");
        assert_eq!(card["service"]["pricePerCall"], Value::Null);
        site.close().await;
    }
}
