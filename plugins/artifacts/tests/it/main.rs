//! Artifacts in a gateway with the payload store, on each database: one file per operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod contributions;
mod get_artifact;
mod list_artifacts;
mod publish_artifact;
mod star_artifact;

use plugin_testing::{TestGateway, TestResponse, Value, Wallet, json};
use std::time::Duration;

const ARTIFACTS: &str = "/api/artifacts";

/// Gateways without limits per IP.
async fn gateways() -> Vec<TestGateway> {
    TestGateway::each_database(&[artifacts::plugin_module(), payloads::plugin_module()]).await
}

/// Waits for the interval between two writes of one wallet.
async fn next(gateway: &TestGateway) {
    gateway.clock().advance(Duration::from_secs(2)).await;
}

/// Stores bytes; returns their hash.
async fn store(gateway: &TestGateway, bytes: &str) -> String {
    let response = gateway.send("POST", "/api/payloads", &[("content-type", "text/csv")], bytes.to_owned()).await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()["hash"].as_str().unwrap().to_owned()
}

async fn publish(gateway: &TestGateway, owner: &Wallet, payload: Value) -> Value {
    let response = gateway.post_signed(ARTIFACTS, owner, "artifact.publish", payload).await;
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()
}

/// Publishes an artifact with this name; returns its id.
async fn publish_named(gateway: &TestGateway, owner: &Wallet, name: &str) -> i64 {
    id(&publish(gateway, owner, json!({ "name": name, "kind": "code", "url": "https://a.example" })).await)
}

async fn star(gateway: &TestGateway, stargazer: &Wallet, artifact: i64) -> TestResponse {
    gateway.post_signed(&star_of(artifact), stargazer, "artifact.star", json!({})).await
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
