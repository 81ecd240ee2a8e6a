//! The registry of tools in a gateway, on each database: one file per operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod configuration;
mod contributions;
mod get_compute;
mod get_tool;
mod invoke_compute;
mod list_compute;
mod list_tools;
mod probe_tools;
mod publish_tool;

use plugin_testing::{TestGateway, TestResponse, Value, Wallet, json};
use std::time::Duration;

const TOOLS: &str = "/api/tools";
const COMPUTE: &str = "/api/compute";
/// A name that never resolves: no test contacts the internet.
const NOWHERE: &str = "https://tool.invalid/path";

/// Gateways without limits per IP.
async fn gateways() -> Vec<TestGateway> {
    TestGateway::each_database(&[tools::plugin_module()]).await
}

/// Like [`gateways`], and probes may reach this machine.
async fn gateways_reaching_localhost() -> Vec<TestGateway> {
    gateways_reaching(&["127.0.0.1"]).await
}

/// Like [`gateways`], and probes may reach these hosts.
async fn gateways_reaching(hosts: &[&str]) -> Vec<TestGateway> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let mut gateways = Vec::new();
    for builder in builders {
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        let builder = builder.configure(|config| config.egress.allow_hosts = hosts);
        gateways.push(builder.plugin(tools::plugin_module()).start().await);
    }
    gateways
}

/// Waits for the interval between two writes of one wallet.
async fn next(gateway: &TestGateway) {
    gateway.clock().advance(Duration::from_secs(2)).await;
}

async fn post(gateway: &TestGateway, owner: &Wallet, payload: Value) -> TestResponse {
    gateway.post_signed(TOOLS, owner, "tool.publish", payload).await
}

/// Publishes a tool; returns it.
async fn publish(gateway: &TestGateway, owner: &Wallet, payload: Value) -> Value {
    let response = post(gateway, owner, payload).await;
    assert!(response.is_success(), "{}", response.text());
    response.json()
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

/// GETs a path; expects 200 and returns the JSON.
async fn read(gateway: &TestGateway, path: &str) -> Value {
    let response = gateway.get(path).await;
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    response.json()
}

/// Names and total of a list.
async fn names(gateway: &TestGateway, path: &str) -> (Vec<String>, i64) {
    let list = read(gateway, path).await;
    let names = list["items"].as_array().expect("items").iter();
    let names = names.map(|item| item["name"].as_str().expect("name").to_owned());
    (names.collect(), list["total"].as_i64().expect("total"))
}

fn exactly(names: &[&str]) -> (Vec<String>, i64) {
    (names.iter().map(ToString::to_string).collect(), i64::try_from(names.len()).unwrap())
}

/// Ends a test: no plugin reported a fault.
async fn finish(gateway: TestGateway) {
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
}
