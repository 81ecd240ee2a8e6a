//! The registry of tools behind a gateway, on each database: one file per operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod configuration;
mod contributions;
mod get_compute;
mod get_tool;
mod list_compute;
mod list_tools;
mod probe_tools;
mod publish_tool;

use plugin_testing::{Answer, TestGateway, Value, Wallet, json};
use std::time::Duration;

const TOOLS: &str = "/api/tools";
const COMPUTE: &str = "/api/compute";
/// Nothing answers at such a name: no test asks the internet.
const NOWHERE: &str = "https://tool.invalid/path";

/// Without limits per IP.
async fn houses() -> Vec<TestGateway> {
    TestGateway::each_database(&[tools::plugin_module()]).await
}

/// As [`houses`], and tools on this machine may be asked.
async fn open_houses() -> Vec<TestGateway> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let mut houses = Vec::new();
    for builder in builders {
        let builder = builder.configure(|config| config.egress.allow_hosts = vec!["127.0.0.1".to_owned()]);
        houses.push(builder.plugin(tools::plugin_module()).start().await);
    }
    houses
}

/// Lets the interval between two writes of one wallet pass.
async fn next(house: &TestGateway) {
    house.clock().advance(Duration::from_secs(2)).await;
}

async fn post(house: &TestGateway, owner: &Wallet, payload: Value) -> Answer {
    house.post_signed(TOOLS, owner, "tool.publish", payload).await
}

/// Publishes a tool; answers it.
async fn publish(house: &TestGateway, owner: &Wallet, payload: Value) -> Value {
    let answer = post(house, owner, payload).await;
    assert!(answer.is_success(), "{}", answer.text());
    answer.json()
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "kind": "http", "url": NOWHERE })
}

fn compute(name: &str) -> Value {
    json!({
        "name": name, "kind": "compute", "endpoint": NOWHERE, "gpu": "NVIDIA H100", "vramGb": 80,
        "pricePerSecond": "1000", "region": "EU-West"
    })
}

/// `payload` with other members.
fn with(mut payload: Value, members: Value) -> Value {
    let members = members.as_object().expect("an object").clone();
    payload.as_object_mut().expect("an object").extend(members);
    payload
}

/// What a GET answers with 200.
async fn read(house: &TestGateway, path: &str) -> Value {
    let answer = house.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json()
}

/// The names of a list, and its total.
async fn names(house: &TestGateway, path: &str) -> (Vec<String>, i64) {
    let list = read(house, path).await;
    let names = list["items"].as_array().expect("items").iter();
    let names = names.map(|item| item["name"].as_str().expect("name").to_owned());
    (names.collect(), list["total"].as_i64().expect("total"))
}

fn exactly(names: &[&str]) -> (Vec<String>, i64) {
    (names.iter().map(ToString::to_string).collect(), i64::try_from(names.len()).unwrap())
}

/// Nothing went wrong inside.
async fn finish(house: TestGateway) {
    assert_eq!(house.faults().await, Vec::<String>::new());
    house.stop().await;
}
