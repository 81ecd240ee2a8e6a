//! `GET /api/agents`: items, filters, search, pages. sort_agents.rs has the sort orders.

use super::{
    limits,
    script::{PAUSED, RETIRED, account, agent, many_agents, registered, status},
    sites,
};
use plugin_testing::{TestGateway, json};

#[tokio::test]
async fn a_chain_without_agents_has_an_empty_list() {
    for site in sites(Vec::new()).await {
        for query in ["", "?status=active", "?q=x", "?sort=rating", "?status=none&q=x&offset=5"] {
            let list = site.read(&format!("/api/agents{query}")).await;
            assert_eq!(list, json!({ "items": [], "total": 0 }), "{query}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn a_gateway_without_the_contract_says_so() {
    for gateway in TestGateway::each_database(&[agents::plugin_module()]).await {
        let list = gateway.get("/api/agents").await.json();
        assert_eq!(list, json!({ "items": [], "total": 0, "disabled": true, "reason": "not deployed" }));
        let jobs = gateway.get("/api/jobs").await.json();
        assert_eq!(jobs, json!({ "items": [], "disabled": true, "reason": "not deployed" }));
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}

#[tokio::test]
async fn an_agent_is_listed_as_it_registered() {
    for site in sites(vec![registered(1, 7, "Ägent 😀 \"x\"", "https://a.example/")]).await {
        let item = json!({
            "id": 1, "owner": account(7), "name": "Ägent 😀 \"x\"", "endpoint": "https://a.example/",
            "metadataURI": "ipfs://m", "pricePerJob": "5", "bond": "100", "status": "Active",
            "registeredAt": 1_767_225_607, "jobsCompleted": 0, "jobsFailed": 0, "ratingCount": 0, "ratingSum": 0,
            "ratingAvg": null, "description": null, "capabilities": [], "model": null, "pricePerCall": null,
            "card": null, "online": false, "lastSeen": null,
        });
        assert_eq!(site.read("/api/agents").await, json!({ "items": [item], "total": 1 }));
        site.close().await;
    }
}

#[tokio::test]
async fn a_status_filters_in_either_form_and_an_unknown_one_does_not() {
    let logs = [agent(1), agent(2), agent(3), vec![status(2, PAUSED), status(3, RETIRED)]].concat();
    for site in sites(vec![logs]).await {
        for (filter, ids) in [
            ("active", vec![1]),
            ("Active", vec![1]),
            ("paused", vec![2]),
            ("retired", vec![3]),
            ("none", vec![]),
            ("unknown", vec![3, 2, 1]),
            ("", vec![3, 2, 1]),
        ] {
            let path = format!("/api/agents?status={filter}");
            assert_eq!(site.ids(&path).await, ids, "{filter}");
            assert_eq!(site.read(&path).await["total"], ids.len(), "{filter}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn a_search_finds_parts_of_name_and_endpoint() {
    let logs = [
        registered(1, 1, "Data Miner", "https://one.example"),
        registered(2, 2, "painter", "https://MINER.example"),
        registered(3, 3, "100%_Ähre", ""),
        vec![status(2, PAUSED)],
    ];
    for site in sites(vec![logs.concat()]).await {
        for (query, ids) in [
            ("q=miner", vec![2, 1]),
            ("q=MINER&status=active", vec![1]),
            ("q=miner&status=paused", vec![2]),
            ("q=one.ex", vec![1]),
            ("q=%25_%C3%84", vec![3]),
            ("q=%C3%A4hre", vec![]),
            ("q=_", vec![3]),
            ("q=nothing", vec![]),
            ("q=", vec![3, 2, 1]),
            ("q=miner&sort=earned&limit=1&offset=1", vec![1]),
        ] {
            assert_eq!(site.ids(&format!("/api/agents?{query}")).await, ids, "{query}");
        }
        assert_eq!(site.read("/api/agents?q=miner&limit=1").await["total"], 2);
        assert_eq!(site.read("/api/agents?q=miner&offset=9").await["total"], 2);
        assert_eq!(site.gateway.get("/api/agents?q=%00").await.status, 400);
        site.close().await;
    }
}

#[tokio::test]
async fn pages_are_parts_of_one_order() {
    let blocks = (1..=5).map(agent).collect();
    for site in sites(blocks).await {
        let all = [5, 4, 3, 2, 1];
        for (query, ids) in [
            ("limit=2", &all[..2]),
            ("limit=2&offset=2", &all[2..4]),
            ("limit=2&offset=4", &all[4..]),
            ("offset=5", &[]),
            ("limit=0", &all[..]),
            ("limit=-3", &all[..1]),
            ("limit=abc&offset=-1", &all[..]),
        ] {
            assert_eq!(site.ids(&format!("/api/agents?{query}")).await, ids, "{query}");
            assert_eq!(site.read(&format!("/api/agents?{query}")).await["total"], 5, "{query}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn a_page_has_50_agents_unless_said_and_at_most_200() {
    assert_eq!(limits("list_agents"), (50, 200));
    for site in sites(many_agents(51)).await {
        assert_eq!(site.ids("/api/agents").await, (2..=51).rev().collect::<Vec<_>>());
        assert_eq!(site.ids("/api/agents?limit=1000").await.len(), 51);
        assert_eq!(site.ids("/api/agents?limit=1000&offset=50").await, [1]);
        site.close().await;
    }
}

#[tokio::test]
async fn a_cached_response_is_304_until_an_agent_changes() {
    for site in sites(vec![agent(1)]).await {
        let etag = |response: &plugin_testing::TestResponse| response.headers["etag"].to_str().unwrap().to_owned();
        let first = etag(&site.gateway.get("/api/agents").await);
        let again = site.gateway.send("GET", "/api/agents", &[("if-none-match", &first)], "").await;
        assert_eq!(again.status, 304);
        site.mine(vec![status(1, PAUSED)]).await;
        let after = site.gateway.send("GET", "/api/agents", &[("if-none-match", &first)], "").await;
        assert_eq!((after.status, &after.json()["items"][0]["status"]), (200, &json!("Paused")));
        site.close().await;
    }
}
