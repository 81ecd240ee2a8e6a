//! `GET /api/tokens`

use super::{MAX, address, assert_begins_empty, assert_refused, finish, fixture, gateways, read, time_of};
use plugin_testing::{ScriptedChain, TestGateway, json};

const TOKENS: &str = "/api/tokens";

async fn symbols(gateway: &TestGateway, query: &str) -> (Vec<String>, i64) {
    let list = read(gateway, &format!("{TOKENS}{query}")).await;
    let symbols = list["items"].as_array().unwrap().iter().map(|item| item["symbol"].as_str().unwrap().to_owned());
    (symbols.collect(), list["total"].as_i64().unwrap())
}

#[tokio::test]
async fn without_events_the_list_is_empty() {
    assert_begins_empty(TOKENS, &[("contract", "tokenFactory")]).await;
}

#[tokio::test]
async fn a_token_sums_up_what_was_done_with_it_and_names_its_agent_and_owner() {
    let chain = ScriptedChain::start().await;
    let launch = fixture::launched(4, 0x70, "Ä😀").in_transaction("launch");
    let tx = launch.tx.to_string();
    chain.mine(vec![fixture::agent(4, 40, "agent four"), launch]);
    chain.mine(vec![fixture::bought(0x70, "9000000000000000000"), fixture::bought(0x70, "9000000000000000001")]);
    chain.mine(vec![fixture::sold(0x70, "5"), fixture::distributed(0x70, "7"), fixture::distributed(0x70, "8")]);
    chain.mine(vec![fixture::agent_sold(4, 40, 41), fixture::bought(0x71, "1")]);
    for gateway in gateways(&chain).await {
        assert_eq!(
            read(&gateway, TOKENS).await["items"],
            json!([{
                "token": address(0x70), "agentId": 4, "symbol": "Ä😀", "launchedAt": time_of(1), "buys": 2, "sells": 1,
                "fmxIn": "18000000000000000001", "fmxOut": "5", "distributed": "15", "txLaunched": tx,
                "agentName": "agent four", "owner": address(41)
            }])
        );
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_largest_sums_stay_the_largest() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![fixture::launched(4, 0x70, "MAX"), fixture::bought(0x70, MAX), fixture::sold(0x70, MAX)]);
    chain.mine(vec![fixture::bought(0x70, MAX), fixture::distributed(0x70, MAX)]);
    for gateway in gateways(&chain).await {
        let token = read(&gateway, TOKENS).await["items"][0].clone();
        assert_eq!([&token["fmxIn"], &token["fmxOut"], &token["distributed"]], [MAX; 3]);
        assert_eq!([&token["agentName"], &token["owner"]], [&json!(null), &json!(null)], "its agent is not known");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_latest_launch_comes_first_also_of_one_block() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![fixture::launched(4, 0x72, "A"), fixture::launched(5, 0x71, "B")]);
    chain.mine(vec![fixture::launched(6, 0x70, "C")]);
    for gateway in gateways(&chain).await {
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(symbols(&gateway, "").await, (named(&["C", "B", "A"]), 3));
        assert_eq!(symbols(&gateway, "?agentId=5").await, (named(&["B"]), 1));
        assert_eq!(symbols(&gateway, "?limit=1&offset=2").await, (named(&["A"]), 3));
        assert_eq!(symbols(&gateway, "?offset=3").await, (named(&[]), 3));
        for query in ["?agentId=0", "?agentId=five"] {
            assert_refused(&gateway, &format!("{TOKENS}{query}")).await;
        }
        finish(gateway).await;
    }
}
