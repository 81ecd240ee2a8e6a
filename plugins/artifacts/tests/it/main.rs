//! Artifacts behind a gateway with the payload store, on each database: one file per operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod contributions;
mod get_artifact;
mod list_artifacts;
mod publish_artifact;
mod star_artifact;

use plugin_testing::{Answer, TestGateway, Value, Wallet, json};
use std::time::Duration;

const ARTIFACTS: &str = "/api/artifacts";

/// Without limits per IP.
async fn houses() -> Vec<TestGateway> {
    TestGateway::each_database(&[artifacts::plugin_module(), payloads::plugin_module()]).await
}

/// Lets the interval between two writes of one wallet pass.
async fn next(house: &TestGateway) {
    house.clock().advance(Duration::from_secs(2)).await;
}

/// Stores bytes; answers their hash.
async fn store(house: &TestGateway, bytes: &str) -> String {
    let answer = house.send("POST", "/api/payloads", &[("content-type", "text/csv")], bytes.to_owned()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["hash"].as_str().unwrap().to_owned()
}

async fn publish(house: &TestGateway, owner: &Wallet, payload: Value) -> Value {
    let answer = house.post_signed(ARTIFACTS, owner, "artifact.publish", payload).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()
}

/// Publishes an artifact that is told from others by its name only; answers its id.
async fn publish_named(house: &TestGateway, owner: &Wallet, name: &str) -> i64 {
    id(&publish(house, owner, json!({ "name": name, "kind": "code", "url": "https://a.example" })).await)
}

async fn star(house: &TestGateway, stargazer: &Wallet, artifact: i64) -> Answer {
    house.post_signed(&star_of(artifact), stargazer, "artifact.star", json!({})).await
}

fn star_of(artifact: i64) -> String {
    format!("{ARTIFACTS}/{artifact}/star")
}

fn path_of(artifact: i64) -> String {
    format!("{ARTIFACTS}/{artifact}")
}

fn id(record: &Value) -> i64 {
    record["id"].as_i64().expect("a record has an id")
}

fn author(wallet: &Wallet) -> Value {
    json!({ "address": wallet.address(), "name": null, "agentId": null })
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
