//! `GET /api/tools`

use super::{TOOLS, compute, exactly, finish, gateways, names, next, publish, read, tool, with};
use plugin_testing::{TestGateway, Wallet, json};

/// Four tools of two owners, published one after the other.
async fn fill(gateway: &TestGateway) {
    let (alice, bob) = (Wallet::new(1), Wallet::new(2));
    publish(gateway, &alice, with(tool("search"), json!({ "description": "Finds Größe" }))).await;
    publish(gateway, &bob, with(tool("weather"), json!({ "kind": "mcp", "url": "https://meteo.invalid/100%25" })))
        .await;
    next(gateway).await;
    publish(gateway, &alice, with(tool("talk"), json!({ "kind": "a2a" }))).await;
    next(gateway).await;
    publish(gateway, &bob, compute("gpu")).await;
}

#[tokio::test]
async fn the_latest_stands_first() {
    for gateway in gateways().await {
        fill(&gateway).await;
        assert_eq!(names(&gateway, TOOLS).await, exactly(&["gpu", "talk", "weather", "search"]));
        assert_eq!(names(&gateway, &format!("{TOOLS}?limit=2&offset=1")).await.0, ["talk", "weather"]);
        assert_eq!(names(&gateway, &format!("{TOOLS}?offset=9")).await, (Vec::new(), 4));
        next(&gateway).await;
        publish(&gateway, &Wallet::new(1), tool("search")).await;
        assert_eq!(names(&gateway, TOOLS).await, exactly(&["search", "gpu", "talk", "weather"]));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_item_is_the_tool_as_it_was_published() {
    for gateway in gateways().await {
        let schema = json!({ "type": "object", "z": 1, "a": [1.5, null] });
        let mut published = publish(&gateway, &Wallet::new(1), with(tool("one"), json!({ "schema": schema }))).await;
        let list = read(&gateway, TOOLS).await;
        // The job that probes tools may have run in between.
        published["lastProbeAt"] = list["items"][0]["lastProbeAt"].clone();
        assert_eq!(list, json!({ "items": [published], "total": 1 }));
        assert_eq!(published["schema"], schema);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn tools_are_filtered_by_text_kind_owner_and_liveness() {
    for gateway in gateways().await {
        fill(&gateway).await;
        let alice = Wallet::new(1).address().to_lowercase();
        for (query, found) in [
            ("?q=SEARCH", ["search"].as_slice()),
            ("?q=meteo", &["weather"]),
            ("?q=100%2525", &["weather"]),
            ("?q=gr%C3%B6", &["search"]),
            ("?q=%25", &["weather"]),
            ("?q=_", &[]),
            ("?q=", &["gpu", "talk", "weather", "search"]),
            ("?kind=mcp", &["weather"]),
            ("?kind=a2a", &["talk"]),
            ("?kind=compute", &["gpu"]),
            ("?kind=", &["gpu", "talk", "weather", "search"]),
            (&format!("?owner={alice}"), &["talk", "search"]),
            (&format!("?owner={alice}&kind=http&q=a"), &["search"]),
            (&format!("?owner={NOBODY}"), &[]),
            ("?owner=%20", &["gpu", "talk", "weather", "search"]),
            ("?online=1", &[]),
            ("?online=true", &[]),
            ("?online=0", &["gpu", "talk", "weather", "search"]),
        ] {
            assert_eq!(names(&gateway, &format!("{TOOLS}{query}")).await, exactly(found), "{query}");
        }
        finish(gateway).await;
    }
}

const NOBODY: &str = "0x00000000000000000000000000000000000000ff";

#[tokio::test]
async fn a_filter_that_means_nothing_is_refused() {
    for gateway in gateways().await {
        for query in ["?kind=rest", "?kind=MCP", "?owner=me", "?owner=0x12"] {
            let response = gateway.get(&format!("{TOOLS}{query}")).await;
            assert_eq!((response.status, response.code()), (400, "bad_request".to_owned()), "{query}");
        }
        let response = gateway.get(&format!("{TOOLS}?q=%00")).await;
        assert_eq!((response.status, response.code()), (400, "bad_query".to_owned()));
        finish(gateway).await;
    }
}
