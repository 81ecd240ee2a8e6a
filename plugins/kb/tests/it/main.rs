//! The knowledge base in a gateway, on each database: one file per operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod configuration;
mod contributions;
mod get_page;
mod get_page_history;
mod list_pages;
mod search_pages;
mod write_network_pages;
mod write_page;
mod write_policy;

use plugin_testing::{Builder, TestGateway, TestResponse, Value, Wallet, json};
use std::time::Duration;

const PAGES: &str = "/api/kb";

/// A builder for each database, without limits per IP.
async fn builders() -> Vec<Builder> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    builders.into_iter().map(|builder| builder.plugin(kb::plugin_module())).collect()
}

/// Gateways without the network's own pages.
async fn gateways() -> Vec<TestGateway> {
    gateways_with(json!({ "network_pages": false })).await
}

async fn gateways_with(config: Value) -> Vec<TestGateway> {
    let mut gateways = Vec::new();
    for builder in builders().await {
        gateways.push(builder.config("kb", config.clone()).start().await);
    }
    gateways
}

/// Waits for the interval between two writes of one wallet.
async fn next(gateway: &TestGateway) {
    gateway.clock().advance(Duration::from_secs(2)).await;
}

async fn put(gateway: &TestGateway, author: &Wallet, slug: &str, payload: Value) -> TestResponse {
    gateway.send_signed("PUT", &format!("{PAGES}/{slug}"), author, "kb.write", payload).await
}

/// Writes a revision; returns the page.
async fn write(gateway: &TestGateway, author: &Wallet, slug: &str, payload: Value) -> Value {
    let response = put(gateway, author, slug, payload).await;
    assert!(response.is_success(), "{}", response.text());
    response.json()
}

/// Creates a page whose title is its slug.
async fn create(gateway: &TestGateway, author: &Wallet, slug: &str, body: &str) -> Value {
    write(gateway, author, slug, json!({ "title": slug, "body": body })).await
}

/// GETs a path; expects 200 and returns the JSON.
async fn read(gateway: &TestGateway, path: &str) -> Value {
    let response = gateway.get(path).await;
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    response.json()
}

/// The slugs of a list.
async fn slugs(gateway: &TestGateway, query: &str) -> Vec<String> {
    let list = read(gateway, &format!("{PAGES}{query}")).await;
    let items = list["items"].as_array().expect("items").iter();
    items.map(|item| item["slug"].as_str().expect("slug").to_owned()).collect()
}

fn nobody(wallet: &Wallet) -> Value {
    json!({ "address": wallet.address(), "name": null, "agentId": null })
}

/// Ends a test: no plugin reported a fault.
async fn finish(gateway: TestGateway) {
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
}
