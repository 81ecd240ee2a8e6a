//! `GET /api/accounts`

use super::{address, assert_begins_empty, assert_refused, builders, finish, fixture, gateways, read, time_of};
use plugin_testing::{ScriptedChain, TestGateway, json};

const ACCOUNTS: &str = "/api/accounts";

async fn accounts(gateway: &TestGateway, query: &str) -> (Vec<String>, i64) {
    let list = read(gateway, &format!("{ACCOUNTS}{query}")).await;
    let accounts = list["items"].as_array().unwrap().iter().map(|item| item["account"].as_str().unwrap().to_owned());
    (accounts.collect(), list["total"].as_i64().unwrap())
}

#[tokio::test]
async fn without_events_the_list_is_empty() {
    assert_begins_empty(ACCOUNTS, &[("factory", "accountFactory"), ("implementation", "accountImpl")]).await;
}

#[tokio::test]
async fn an_account_shows_whose_it_was_made_and_when() {
    let chain = ScriptedChain::start().await;
    let making = fixture::account(40, 0x60).in_transaction("making");
    let tx = making.tx.to_string();
    chain.mine(vec![making]);
    for gateway in gateways(&chain).await {
        assert_eq!(
            read(&gateway, ACCOUNTS).await["items"],
            json!([{ "account": address(0x60), "owner": address(40), "createdAt": time_of(1), "txHash": tx }])
        );
        finish(gateway).await;
    }
}

#[tokio::test]
async fn filters_and_pages() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![fixture::account(41, 0x62), fixture::account(40, 0x61)]);
    chain.mine(vec![fixture::account(41, 0x60)]);
    for gateway in gateways(&chain).await {
        let named = |numbers: &[u64]| numbers.iter().map(|number| address(*number)).collect::<Vec<_>>();
        assert_eq!(accounts(&gateway, "").await, (named(&[0x60, 0x61, 0x62]), 3));
        let of_owner = format!("?owner={}", address(41).to_lowercase());
        assert_eq!(accounts(&gateway, &of_owner).await, (named(&[0x60, 0x62]), 2));
        assert_eq!(accounts(&gateway, "?limit=1&offset=1").await, (named(&[0x61]), 3));
        assert_eq!(accounts(&gateway, "?offset=3").await, (named(&[]), 3));
        assert_refused(&gateway, &format!("{ACCOUNTS}?owner=0xzz")).await;
        finish(gateway).await;
    }
}

#[tokio::test]
async fn lists_of_contracts_that_are_not_deployed_are_empty_and_say_so() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![fixture::account(40, 0x60), fixture::opened(1, "1", "9", 9)]);
    for builder in builders(&chain, &["registry"]).await {
        let gateway = builder.start().await;
        gateway.indexed(&chain).await;
        for path in
            ["/api/streams", "/api/streams/plans", "/api/streams/subs", "/api/disputes", "/api/tokens", ACCOUNTS]
        {
            let mut list = read(&gateway, path).await;
            if let Some(members) = list.as_object_mut() {
                members.retain(|name, _| name != "now");
            }
            let nowhere = match path {
                ACCOUNTS => json!({ "factory": null, "implementation": null }),
                _ => json!({ "contract": null }),
            };
            let mut expected = json!({ "items": [], "total": 0, "disabled": true, "reason": "not deployed" });
            expected.as_object_mut().unwrap().extend(nowhere.as_object().unwrap().clone());
            assert_eq!(list, expected, "{path}");
        }
        finish(gateway).await;
    }
}
