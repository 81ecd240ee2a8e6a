//! The memory in a gateway, on each database: one file per operation, job and contribution.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod anchor_memory;
mod configuration;
mod contributions;
mod delete_memory;
mod fixture;
mod get_memory;
mod get_memory_proof;
mod keys;
mod list_memory;
mod list_memory_anchors;
mod payment;
mod put_memory;
mod reorganisation;
mod secrecy;
mod till;

use plugin_testing::{Builder, TestGateway, TestResponse, Value, Wallet, json};

const MEMORY: &str = "/api/memory";
const VALUE_BYTES_MAX: usize = 65_536;
/// What a record counts in the limits.
const RECORD_BYTES: i64 = 1024;
const FREE_BYTES: i64 = 5_242_880;
const ZERO: &str = "0x0000000000000000000000000000000000000000000000000000000000000000";

/// Without limits per IP, and without a pause between the writes of a wallet.
async fn builders() -> Vec<Builder> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let quick = |builder: Builder| builder.configure(|config| config.limits.write_interval_ms = 0);
    builders.into_iter().map(|builder| quick(builder).plugin(memory::plugin_module())).collect()
}

async fn gateways_with(configure: impl Fn(Builder) -> Builder) -> Vec<TestGateway> {
    let mut gateways = Vec::new();
    for builder in builders().await {
        gateways.push(configure(builder).start().await);
    }
    gateways
}

async fn gateways() -> Vec<TestGateway> {
    gateways_with(|builder| builder).await
}

fn path_of(key: &str) -> String {
    format!("{MEMORY}/{key}")
}

async fn put(gateway: &TestGateway, wallet: &Wallet, key: &str, value: Value) -> TestResponse {
    gateway.send_signed("PUT", &path_of(key), wallet, "memory.put", json!({ "key": key, "value": value })).await
}

/// Stores a value; returns the answer.
async fn store(gateway: &TestGateway, wallet: &Wallet, key: &str, value: Value) -> Value {
    let response = put(gateway, wallet, key, value).await;
    assert!(response.is_success(), "{}: {}", response.status, response.text());
    response.json()
}

/// A read or delete whose signature is over this text, with this body.
async fn send_headers(
    gateway: &TestGateway,
    (method, path): (&str, &str),
    wallet: &Wallet,
    (action, signed): (&str, &str),
    body: &str,
) -> TestResponse {
    let headers = wallet.signed_headers(action, gateway.now_s(), signed);
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    gateway.send(method, path, &headers, body.to_owned()).await
}

async fn get(gateway: &TestGateway, wallet: &Wallet, key: &str) -> TestResponse {
    send_headers(gateway, ("GET", &path_of(key)), wallet, ("memory.get", ""), "").await
}

/// Reads a value.
async fn value_of(gateway: &TestGateway, wallet: &Wallet, key: &str) -> Value {
    let response = get(gateway, wallet, key).await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()["value"].clone()
}

async fn list(gateway: &TestGateway, wallet: &Wallet) -> Value {
    let response = send_headers(gateway, ("GET", MEMORY), wallet, ("memory.get", ""), "").await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()
}

async fn delete(gateway: &TestGateway, wallet: &Wallet, key: &str) -> TestResponse {
    let body = json!({ "key": key }).to_string();
    send_headers(gateway, ("DELETE", &path_of(key)), wallet, ("memory.delete", &body), &body).await
}

fn refusal(response: &TestResponse) -> (u16, String) {
    (response.status, response.code())
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
