//! The forum behind a gateway, on each database: one file per operation.

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

/// Without limits per IP.
async fn houses() -> Vec<TestGateway> {
    TestGateway::each_database(&[forum::plugin_module()]).await
}

/// Lets the interval between two writes of one wallet pass.
async fn next(house: &TestGateway) {
    house.clock().advance(Duration::from_secs(2)).await;
}

/// Opens a thread; answers its detail.
async fn open(house: &TestGateway, author: &Wallet, payload: Value) -> Value {
    let answer = house.post_signed(THREADS, author, "thread.create", payload).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()
}

/// Opens a thread that is told from others by its title only.
async fn open_titled(house: &TestGateway, author: &Wallet, title: &str) -> i64 {
    id(&open(house, author, json!({ "title": title, "body": "text" })).await)
}

fn posts_of(thread: i64) -> String {
    format!("{THREADS}/{thread}/posts")
}

/// Replies; answers the post.
async fn reply(house: &TestGateway, author: &Wallet, thread: i64, payload: Value) -> Value {
    let answer = house.post_signed(&posts_of(thread), author, "post.create", payload).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()
}

fn id(record: &Value) -> i64 {
    record["id"].as_i64().expect("a record has an id")
}

/// What a GET answers with 200.
async fn read(house: &TestGateway, path: &str) -> Value {
    let answer = house.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json()
}

/// The titles of a list, and its total.
async fn titles(house: &TestGateway, query: &str) -> (Vec<String>, i64) {
    let list = read(house, &format!("{THREADS}{query}")).await;
    let titles =
        list["items"].as_array().expect("items").iter().map(|item| item["title"].as_str().expect("title").to_owned());
    (titles.collect(), list["total"].as_i64().expect("total"))
}

/// Nothing went wrong inside.
async fn finish(house: TestGateway) {
    assert_eq!(house.faults().await, Vec::<String>::new());
    house.stop().await;
}
