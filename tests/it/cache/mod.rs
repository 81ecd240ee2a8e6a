//! Cached responses: never older than an acknowledged write, only from stored data, bounded in memory; and entity tags.

mod cached;
mod conditional;
mod fresh;
mod notebook;

use gateway_config::{Config, Synchronous};
use notebook::NOTES;
use plugin_testing::{TestGateway, TestResponse, json};

/// Without a sync at each commit: the speed of the disk is not tested here.
fn without_sync(config: &mut Config) {
    config.database.synchronous = Synchronous::Normal;
}

async fn test_gateway() -> TestGateway {
    TestGateway::builder().plugin(notebook::plugin_module()).configure(without_sync).start().await
}

async fn add_note(gateway: &TestGateway, body: &str) {
    let answer = gateway.send("POST", NOTES, &[], json!({ "body": body }).to_string()).await;
    assert_eq!(answer.status, 204, "{}", answer.text());
}

fn count(answer: &TestResponse) -> i64 {
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["count"].as_i64().unwrap()
}

/// The number of the plugin's call that made the response.
fn call(answer: &TestResponse) -> i64 {
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["call"].as_i64().unwrap()
}
