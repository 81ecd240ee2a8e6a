//! Answers that the gateway keeps: never old, never of anything but stored data, never without bound; and their tags.

mod cached;
mod conditional;
mod fresh;
mod notebook;

use gateway_config::{Config, Synchronous};
use notebook::NOTES;
use plugin_testing::{TestGateway, TestResponse, json};

/// How fast the disk is, is not what is tested here.
fn hasty(config: &mut Config) {
    config.database.synchronous = Synchronous::Normal;
}

async fn test_gateway() -> TestGateway {
    TestGateway::builder().plugin(notebook::plugin_module()).configure(hasty).start().await
}

async fn add_note(gateway: &TestGateway, body: &str) {
    let answer = gateway.send("POST", NOTES, &[], json!({ "body": body }).to_string()).await;
    assert_eq!(answer.status, 204, "{}", answer.text());
}

fn count(answer: &TestResponse) -> i64 {
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["count"].as_i64().unwrap()
}

/// Which call of the plugin made the answer.
fn call(answer: &TestResponse) -> i64 {
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["call"].as_i64().unwrap()
}
