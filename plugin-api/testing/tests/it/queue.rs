//! A durable queue: what it promises the handler of its tasks.

use crate::postman::{PUSH, plugin_module};
use plugin_testing::TestGateway;
use serde_json::{Value, json};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);

async fn gateways(config: Value) -> Vec<TestGateway> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let mut gateways = Vec::new();
    for builder in builders {
        gateways.push(builder.plugin(plugin_module()).config("postman", config.clone()).start().await);
    }
    gateways
}

async fn push(gateway: &TestGateway, letters: Value) -> i64 {
    let answer = gateway.send("POST", PUSH, &[("content-type", "application/json")], letters.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json().as_i64().unwrap()
}

/// The attempts so far: name, attempt, outcome.
async fn runs(gateway: &TestGateway) -> Vec<String> {
    let rows = gateway.rows("SELECT name, attempt, coalesce(outcome, 'running') FROM postman_runs ORDER BY id").await;
    rows.into_iter().map(|row| row.replace("Text(", "").replace("Int(", "").replace([')', '"'], "")).collect()
}

async fn ended(gateway: &TestGateway, count: usize) {
    let all_ended = async || {
        let runs = runs(gateway).await;
        runs.len() == count && runs.iter().all(|run| !run.ends_with("running"))
    };
    TestGateway::eventually(LIMIT, &format!("{count} attempts end"), all_ended).await;
}

/// No task is left, waiting or running.
async fn empty(gateway: &TestGateway) {
    let is_empty = async || gateway.rows("SELECT id FROM postman_letters").await.is_empty();
    TestGateway::eventually(LIMIT, "the queue is empty", is_empty).await;
}

#[tokio::test]
async fn a_task_is_handled_as_soon_as_it_is_pushed() {
    for gateway in gateways(json!({})).await {
        assert_eq!(push(&gateway, json!([{ "key": "a", "name": "first" }])).await, 1);
        ended(&gateway, 1).await;
        assert_eq!(runs(&gateway).await, ["first 1 done"]);
        empty(&gateway).await;
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_failed_task_is_tried_again_by_backoff_and_is_dead_in_the_end() {
    for gateway in gateways(json!({})).await {
        push(&gateway, json!([{ "key": "a", "name": "x", "fails": 9 }])).await;
        ended(&gateway, 1).await;
        gateway.clock().advance(Duration::from_millis(9_500)).await;
        assert_eq!(runs(&gateway).await, ["x 1 again in 10 s"]);
        gateway.clock().advance(Duration::from_secs(1)).await;
        ended(&gateway, 2).await;
        gateway.clock().advance(Duration::from_secs(61)).await;
        ended(&gateway, 3).await;
        assert_eq!(runs(&gateway).await, ["x 1 again in 10 s", "x 2 again in 60 s", "x 3 dead after its last attempt"]);
        empty(&gateway).await;
        let dead = gateway.rows("SELECT key, attempt, error FROM postman_letters_dead").await;
        assert_eq!(dead, [r#"Text("a") Int(3) Text("nobody is at home")"#]);
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}
