//! The economy behind a gateway, on each database: one file per operation, and the chain underneath.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod contributions;
mod events;
mod list_accounts;
mod list_disputes;
mod list_plans;
mod list_streams;
mod list_subs;
mod list_tokens;
mod reorganisation;
mod scene;

use plugin_testing::{Builder, ScriptedChain, TestGateway, Value, json};

const CONTRACTS: [&str; 7] =
    ["registry", "escrow", "streamPay", "arbiterPool", "tokenFactory", "accountFactory", "accountImpl"];
/// 2^256 - 1.
const MAX: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

/// A gateway with this plugin on each database, not yet started.
async fn builders(chain: &ScriptedChain, contracts: &[&str]) -> Vec<Builder> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    builders.into_iter().map(|builder| builder.plugin(economy::plugin_module()).chain(chain, contracts)).collect()
}

/// Gateways that know every block of the chain.
async fn houses(chain: &ScriptedChain) -> Vec<TestGateway> {
    let mut houses = Vec::new();
    for builder in builders(chain, &CONTRACTS).await {
        let house = builder.start().await;
        house.indexed(chain).await;
        houses.push(house);
    }
    houses
}

/// What a GET answers with 200.
async fn read(house: &TestGateway, path: &str) -> Value {
    let answer = house.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json()
}

/// The ids of a list, and its total.
async fn ids(house: &TestGateway, path: &str) -> (Vec<i64>, i64) {
    let list = read(house, path).await;
    let ids = list["items"].as_array().expect("items").iter().map(|item| item["id"].as_i64().expect("id"));
    (ids.collect(), list["total"].as_i64().expect("total"))
}

/// Without events a list is empty, and says where its contracts are, and the time when items depend on it.
async fn assert_begins_empty(path: &str, contracts: &[(&str, &str)]) {
    let chain = ScriptedChain::start().await;
    for house in houses(&chain).await {
        let mut list = read(&house, path).await;
        let now = list.as_object_mut().expect("an object").remove("now");
        let depends_on_time = matches!(path, "/api/streams" | "/api/streams/subs");
        assert_eq!(now, depends_on_time.then(|| house.now_s().into()));
        let mut expected = json!({ "items": [], "total": 0 });
        for (member, key) in contracts {
            expected[*member] = json!(ScriptedChain::address_of(key));
        }
        assert_eq!(list, expected);
        finish(house).await;
    }
}

async fn assert_refused(house: &TestGateway, path: &str) {
    let answer = house.get(path).await;
    assert_eq!((answer.status, answer.json()["code"].clone()), (400, "bad_request".into()), "{path}");
}

/// An address by its number, checksummed, and as an author without a name.
fn address(number: u64) -> String {
    plugin_api::Address::to_string(&format!("0x{number:040x}").parse().expect("an address"))
}

fn author(number: u64) -> Value {
    json!({ "address": address(number), "name": null, "agentId": null })
}

/// When the block of that number was made.
fn time_of(block: u64) -> i64 {
    1_767_225_600 + i64::try_from(block).expect("a small number") * 7
}

/// Nothing went wrong inside.
async fn finish(house: TestGateway) {
    assert_eq!(house.faults().await, Vec::<String>::new());
    house.stop().await;
}
