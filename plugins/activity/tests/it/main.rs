//! The plugin activity in a gateway, on each database: one file per operation. A test plugin publishes the events.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod contributions;
mod forget_idle_presence;
mod get_leaderboard;
mod list_activity;
mod list_presence;
mod ping_presence;
mod probe;
mod stream_activity;

use plugin_testing::{TestGateway, Value, Wallet, json};
use std::time::Duration;

const PRESENCE: &str = "/api/presence";
/// Owns `agent 02`.
const NAMED: &str = "0x0000000000000000000000000000000000000002";
/// Owns no agent.
const NAMELESS: &str = "0x0000000000000000000000000000000000000001";

async fn gateways() -> Vec<TestGateway> {
    TestGateway::each_database(&[activity::plugin_module(), probe::plugin_module()]).await
}

async fn wait(gateway: &TestGateway, seconds: u64) {
    gateway.clock().advance(Duration::from_secs(seconds)).await;
}

async fn publish_as(gateway: &TestGateway, event: Value) {
    let response = gateway.send("POST", probe::PUBLISH, &[], event.to_string()).await;
    assert_eq!(response.status, 204, "{}", response.text());
}

async fn publish(gateway: &TestGateway, kind: &str) {
    publish_as(gateway, json!({ "type": kind, "actor": NAMELESS, "data": {} })).await;
}

async fn ping(gateway: &TestGateway, author: &Wallet, payload: Value) -> Value {
    let response = gateway.post_signed(PRESENCE, author, "presence.ping", payload).await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()
}

/// GETs a path; expects 200 and returns the JSON.
async fn read(gateway: &TestGateway, path: &str) -> Value {
    let response = gateway.get(path).await;
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    response.json()
}

/// Ends a test: no plugin reported a fault.
async fn finish(gateway: TestGateway) {
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
}

/// An author without a name; the test plugin derives names from the address's last digit.
fn author(address: &str) -> Value {
    let last = u8::from_str_radix(&address[40..], 16).expect("an address ends in hex digits");
    let named = last.is_multiple_of(2);
    json!({
        "address": address,
        "name": named.then(|| format!("agent {last:02x}")),
        "agentId": named.then_some(last)
    })
}
