//! The payload store in a gateway, on each database: one file per operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod configuration;
mod contributions;
mod get_payload;
mod prune_payloads;
mod store_payload;
mod text_store;
mod views;

use plugin_testing::{Builder, TestGateway, TestResponse, Value};

const PAYLOADS: &str = "/api/payloads";

/// Gateways without limits per IP.
async fn gateways() -> Vec<TestGateway> {
    gateways_with(|builder| builder).await
}

async fn gateways_with(configure: impl Fn(Builder) -> Builder) -> Vec<TestGateway> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let mut gateways = Vec::new();
    for builder in builders {
        gateways.push(configure(builder.plugin(payloads::plugin_module())).start().await);
    }
    gateways
}

async fn post(gateway: &TestGateway, content_type: &str, bytes: impl Into<Vec<u8>>) -> TestResponse {
    let headers = [("content-type", content_type)];
    let headers = if content_type.is_empty() { &headers[..0] } else { &headers[..] };
    gateway.send("POST", PAYLOADS, headers, bytes.into()).await
}

/// Stores bytes; returns their hash.
async fn store(gateway: &TestGateway, bytes: impl Into<Vec<u8>>) -> String {
    let response = post(gateway, "text/plain", bytes).await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()["hash"].as_str().unwrap().to_owned()
}

fn path_of(hash: &str) -> String {
    format!("{PAYLOADS}/{hash}")
}

async fn is_there(gateway: &TestGateway, hash: &str) -> bool {
    gateway.get(&path_of(hash)).await.status == 200
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
