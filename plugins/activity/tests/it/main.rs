//! Activity behind a gateway, on each database: one file per operation. The events are those of a plugin for tests.

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

async fn houses() -> Vec<TestGateway> {
    TestGateway::each_database(&[activity::plugin_module(), probe::plugin_module()]).await
}

async fn wait(house: &TestGateway, seconds: u64) {
    house.clock().advance(Duration::from_secs(seconds)).await;
}

async fn publish_as(house: &TestGateway, event: Value) {
    let answer = house.send("POST", probe::PUBLISH, &[], event.to_string()).await;
    assert_eq!(answer.status, 204, "{}", answer.text());
}

async fn publish(house: &TestGateway, kind: &str) {
    publish_as(house, json!({ "type": kind, "actor": NAMELESS, "data": {} })).await;
}

async fn ping(house: &TestGateway, author: &Wallet, payload: Value) -> Value {
    let answer = house.post_signed(PRESENCE, author, "presence.ping", payload).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// What a GET answers with 200.
async fn read(house: &TestGateway, path: &str) -> Value {
    let answer = house.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json()
}

/// Nothing went wrong inside.
async fn finish(house: TestGateway) {
    assert_eq!(house.faults().await, Vec::<String>::new());
    house.stop().await;
}

/// An address without its name: how wallets of these tests appear depends on their last digit.
fn author(address: &str) -> Value {
    let last = u8::from_str_radix(&address[40..], 16).expect("an address ends in hex digits");
    let named = last.is_multiple_of(2);
    json!({
        "address": address,
        "name": named.then(|| format!("agent {last:02x}")),
        "agentId": named.then_some(last)
    })
}
