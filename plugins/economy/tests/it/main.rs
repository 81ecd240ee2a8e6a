//! The economy in a gateway, on each database, with a scripted chain: one file per operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod contributions;
mod events;
mod fixture;
mod list_accounts;
mod list_disputes;
mod list_plans;
mod list_streams;
mod list_subs;
mod list_tokens;
mod reorganisation;

use plugin_testing::{Builder, ScriptedChain, TestGateway, Value, json};

const CONTRACTS: [&str; 7] =
    ["registry", "escrow", "streamPay", "arbiterPool", "tokenFactory", "accountFactory", "accountImpl"];
/// 2^256 - 1.
const MAX: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

/// A builder with this plugin for each database.
async fn builders(chain: &ScriptedChain, contracts: &[&str]) -> Vec<Builder> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    builders.into_iter().map(|builder| builder.plugin(economy::plugin_module()).chain(chain, contracts)).collect()
}

/// Gateways that have indexed every block of the chain.
async fn gateways(chain: &ScriptedChain) -> Vec<TestGateway> {
    let mut gateways = Vec::new();
    for builder in builders(chain, &CONTRACTS).await {
        let gateway = builder.start().await;
        gateway.indexed(chain).await;
        gateways.push(gateway);
    }
    gateways
}

/// GETs a path; expects 200 and returns the JSON.
async fn read(gateway: &TestGateway, path: &str) -> Value {
    let response = gateway.get(path).await;
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    response.json()
}

/// Ids and total of a list.
async fn ids(gateway: &TestGateway, path: &str) -> (Vec<i64>, i64) {
    let list = read(gateway, path).await;
    let ids = list["items"].as_array().expect("items").iter().map(|item| item["id"].as_i64().expect("id"));
    (ids.collect(), list["total"].as_i64().expect("total"))
}

/// Without events a list is empty, with the addresses of its contracts, and the time when items depend on it.
async fn assert_begins_empty(path: &str, contracts: &[(&str, &str)]) {
    let chain = ScriptedChain::start().await;
    for gateway in gateways(&chain).await {
        let mut list = read(&gateway, path).await;
        let now = list.as_object_mut().expect("an object").remove("now");
        let depends_on_time = matches!(path, "/api/streams" | "/api/streams/subs");
        assert_eq!(now, depends_on_time.then(|| gateway.now_s().into()));
        let mut expected = json!({ "items": [], "total": 0 });
        for (member, key) in contracts {
            expected[*member] = json!(ScriptedChain::address_of(key));
        }
        assert_eq!(list, expected);
        finish(gateway).await;
    }
}

async fn assert_refused(gateway: &TestGateway, path: &str) {
    let response = gateway.get(path).await;
    assert_eq!((response.status, response.json()["code"].clone()), (400, "bad_request".into()), "{path}");
}

/// An address by its number, checksummed; as an author it has no name.
fn address(number: u64) -> String {
    plugin_api::Address::to_string(&format!("0x{number:040x}").parse().expect("an address"))
}

fn author(number: u64) -> Value {
    json!({ "address": address(number), "name": null, "agentId": null })
}

/// Timestamp of the block with this number.
fn time_of(block: u64) -> i64 {
    1_767_225_600 + i64::try_from(block).expect("a small number") * 7
}

/// Ends a test: no plugin reported a fault.
async fn finish(gateway: TestGateway) {
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
}
