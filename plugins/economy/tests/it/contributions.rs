//! Contributions of the economy.

use super::{finish, fixture, gateways, read, time_of};
use plugin_testing::{ScriptedChain, TestGateway, json};
use std::time::Duration;

#[tokio::test]
async fn stats_count_what_is_open_now() {
    let chain = ScriptedChain::start().await;
    let until = u64::try_from(time_of(0)).unwrap() + 100;
    chain.mine(vec![
        fixture::opened(1, "1", "9", 100),
        fixture::opened(2, "1", "9", 50),
        fixture::subscribed(6, 5, 10, until),
        fixture::case_opened(2, 9, 31),
        fixture::case_opened(3, 9, 31),
        fixture::case_closed(3, 9, 1),
        fixture::launched(4, 0x70, "FOUR"),
        fixture::account(40, 0x60),
    ]);
    for gateway in gateways(&chain).await {
        let counts = |streams: i64, subs: i64| json!({ "streamsOpen": streams, "subsActive": subs, "casesOpen": 1, "tokensLaunched": 1, "accountsCreated": 1 });
        // The gateway caches these documents for a while.
        gateway.clock().advance(Duration::from_secs(60)).await;
        assert_eq!(read(&gateway, "/api/stats").await, counts(1, 1));
        gateway.clock().advance(Duration::from_secs(60)).await;
        assert_eq!(read(&gateway, "/api/stats").await, counts(0, 0));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn status_names_the_contracts_that_are_deployed() {
    let chain = ScriptedChain::start().await;
    for gateway in gateways(&chain).await {
        let service = read(&gateway, "/api/status").await["services"]["economy"].clone();
        assert_eq!((&service["ok"], &service["enabled"]), (&json!(true), &json!(true)));
        assert_eq!(service["contracts"], json!(["streamPay", "arbiterPool", "tokenFactory", "accountFactory"]));
        assert_eq!(service["streamsOpen"], 0);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn without_a_chain_the_lists_are_there_and_status_says_why_they_are_empty() {
    for gateway in TestGateway::each_database(&[economy::plugin_module()]).await {
        assert_eq!(read(&gateway, "/api/streams").await["disabled"], true);
        let service = read(&gateway, "/api/status").await["services"]["economy"].clone();
        assert_eq!(
            [&service["ok"], &service["enabled"], &service["detail"]],
            [&json!(true), &json!(false), &json!("none of its contracts is deployed")]
        );
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_manifest_names_every_list() {
    let gateway = TestGateway::builder().plugin(economy::plugin_module()).start().await;
    let manifest = read(&gateway, "/.well-known/service.json").await;
    for (name, path) in [
        ("streams", "/api/streams"),
        ("plans", "/api/streams/plans"),
        ("subs", "/api/streams/subs"),
        ("disputes", "/api/disputes"),
        ("tokens", "/api/tokens"),
        ("agentAccounts", "/api/accounts"),
    ] {
        let endpoint = manifest["endpoints"][name].as_str().unwrap_or_default();
        assert!(endpoint.ends_with(path), "{name}: {endpoint}");
    }
    finish(gateway).await;
}
