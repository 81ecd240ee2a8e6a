//! Cached responses: never older than an acknowledged write, only from stored data, bounded in memory; and entity tags.

mod cached;
mod conditional;
mod fresh;
mod notebook;
mod read_replicas;
mod shared;

use crate::storage::Engine;
use gateway_config::{Config, Synchronous};
use gateway_tests::postgres;
use notebook::NOTES;
use plugin_testing::{Builder, TestGateway, TestResponse, json};

/// Without a sync at each commit: the speed of the disk is not tested here.
fn without_sync(config: &mut Config) {
    config.database.synchronous = Synchronous::Normal;
}

/// With the notebook, on a database of its own.
async fn builder(engine: Engine) -> Builder {
    let url = match engine {
        Engine::Sqlite => None,
        Engine::Postgres => Some(postgres::fresh_database().await.unwrap().into()),
    };
    let builder = TestGateway::builder().plugin(notebook::plugin_module()).configure(without_sync);
    builder.configure(|config| config.database.url = url)
}

async fn test_gateway(engine: Engine) -> TestGateway {
    builder(engine).await.start().await
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
