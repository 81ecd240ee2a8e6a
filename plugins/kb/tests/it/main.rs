//! The knowledge base behind a gateway, on each database: one file per operation.

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

use plugin_testing::{Answer, Builder, TestGateway, Value, Wallet, json};
use std::time::Duration;

const PAGES: &str = "/api/kb";

/// A builder for each database, without limits per IP.
async fn builders() -> Vec<Builder> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    builders.into_iter().map(|builder| builder.plugin(kb::plugin_module())).collect()
}

/// Without the network's own pages.
async fn houses() -> Vec<TestGateway> {
    houses_with(json!({ "network_pages": false })).await
}

async fn houses_with(config: Value) -> Vec<TestGateway> {
    let mut houses = Vec::new();
    for builder in builders().await {
        houses.push(builder.config("kb", config.clone()).start().await);
    }
    houses
}

/// Lets the interval between two writes of one wallet pass.
async fn next(house: &TestGateway) {
    house.clock().advance(Duration::from_secs(2)).await;
}

async fn put(house: &TestGateway, author: &Wallet, slug: &str, payload: Value) -> Answer {
    house.send_signed("PUT", &format!("{PAGES}/{slug}"), author, "kb.write", payload).await
}

/// Writes a revision; answers the page.
async fn write(house: &TestGateway, author: &Wallet, slug: &str, payload: Value) -> Value {
    let answer = put(house, author, slug, payload).await;
    assert!(answer.is_success(), "{}", answer.text());
    answer.json()
}

/// Creates a page whose title is its slug.
async fn create(house: &TestGateway, author: &Wallet, slug: &str, body: &str) -> Value {
    write(house, author, slug, json!({ "title": slug, "body": body })).await
}

/// What a GET answers with 200.
async fn read(house: &TestGateway, path: &str) -> Value {
    let answer = house.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json()
}

/// The slugs of a list.
async fn slugs(house: &TestGateway, query: &str) -> Vec<String> {
    let list = read(house, &format!("{PAGES}{query}")).await;
    let items = list["items"].as_array().expect("items").iter();
    items.map(|item| item["slug"].as_str().expect("slug").to_owned()).collect()
}

fn nobody(wallet: &Wallet) -> Value {
    json!({ "address": wallet.address(), "name": null, "agentId": null })
}

/// Nothing went wrong inside.
async fn finish(house: TestGateway) {
    assert_eq!(house.faults().await, Vec::<String>::new());
    house.stop().await;
}
