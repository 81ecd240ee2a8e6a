//! The forum in a gateway, on each database: one file per operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod contributions;
mod create_post;
mod create_thread;
mod get_thread;
mod list_feed;
mod list_threads;
mod search_threads;

use plugin_testing::{TestGateway, Value, Wallet, json};
use std::time::Duration;

const THREADS: &str = "/api/forum/threads";

/// Gateways without limits per IP.
async fn gateways() -> Vec<TestGateway> {
    TestGateway::each_database(&[forum::plugin_module()]).await
}

/// Waits for the interval between two writes of one wallet.
async fn next(gateway: &TestGateway) {
    gateway.clock().advance(Duration::from_secs(2)).await;
}

/// Opens a thread; returns its detail.
async fn open(gateway: &TestGateway, author: &Wallet, payload: Value) -> Value {
    let response = gateway.post_signed(THREADS, author, "thread.create", payload).await;
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()
}

/// Opens a thread with this title; returns its id.
async fn open_titled(gateway: &TestGateway, author: &Wallet, title: &str) -> i64 {
    id(&open(gateway, author, json!({ "title": title, "body": "text" })).await)
}

fn posts_of(thread: i64) -> String {
    format!("{THREADS}/{thread}/posts")
}

/// Replies; returns the post.
async fn reply(gateway: &TestGateway, author: &Wallet, thread: i64, payload: Value) -> Value {
    let response = gateway.post_signed(&posts_of(thread), author, "post.create", payload).await;
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()
}

fn id(record: &Value) -> i64 {
    record["id"].as_i64().expect("a record has an id")
}

/// GETs a path; expects 200 and returns the JSON.
async fn read(gateway: &TestGateway, path: &str) -> Value {
    let response = gateway.get(path).await;
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    response.json()
}

/// Titles and total of a list.
async fn titles(gateway: &TestGateway, query: &str) -> (Vec<String>, i64) {
    let list = read(gateway, &format!("{THREADS}{query}")).await;
    let titles =
        list["items"].as_array().expect("items").iter().map(|item| item["title"].as_str().expect("title").to_owned());
    (titles.collect(), list["total"].as_i64().expect("total"))
}

/// Ends a test: no plugin reported a fault.
async fn finish(gateway: TestGateway) {
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
}
