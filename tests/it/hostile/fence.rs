//! An operation that fails too often is paused and comes back by itself; a plugin with several of them is taken off until an
//! operator switches it off and on again.

use super::{LIMIT, assert_internal, assert_others_serve, call, gateway_with, post, report, switch};
use gateway::lifecycle::OperatorAction;
use gateway_plugins::{ContainmentCause, ContainmentRequest, PluginState};
use plugin_testing::{TestGateway, TestResponse, json};
use std::time::Duration;

async fn fragile() -> TestGateway {
    gateway_with(json!({}), |config| config.plugins.fence_faults = 3).await
}

/// Calls an operation until it is paused.
async fn until_paused(gateway: &TestGateway, path: &str) -> TestResponse {
    for _ in 0..3 {
        assert_internal(&call(gateway, path).await);
    }
    let is_paused = async || call(gateway, path).await.status == 503;
    TestGateway::eventually(LIMIT, "the operation is paused", is_paused).await;
    call(gateway, path).await
}

fn assert_paused(refused: &TestResponse, operation: &str, seconds: u64) {
    assert_eq!((refused.status, refused.code().as_str()), (503, "paused"), "{}", refused.text());
    assert_eq!(refused.header("retry-after"), seconds.to_string());
    let message = refused.json()["error"].as_str().unwrap().to_owned();
    assert!(message.starts_with(&format!("{operation} failed too often and is paused until ")), "{message}");
    assert!(!refused.text().contains("odd number") && !refused.text().contains("operator"), "{}", refused.text());
}

#[tokio::test]
async fn an_input_that_panics_pauses_its_operation_and_nothing_else() {
    let gateway = fragile().await;
    assert_paused(&until_paused(&gateway, "panic_on/1").await, "panic_on_odd", 5);
    assert_paused(&call(&gateway, "panic_on/2").await, "panic_on_odd", 5);
    let report = report(&gateway, "hostile").await;
    assert_eq!((report.state, report.paused.len()), (PluginState::Serving, 1), "{report:?}");
    let reason = "panic_on_odd is paused until ";
    assert!(report.reason.starts_with(reason) && report.reason.contains("on an odd number"), "{report:?}");
    assert_eq!(call(&gateway, "rows").await.status, 200);
    assert_eq!(post(&gateway, "write").await.status, 200);
    assert_others_serve(&gateway, 1).await;
    gateway.stop().await;
}

#[tokio::test]
async fn it_comes_back_with_a_call_that_succeeds_and_pauses_longer_with_one_that_does_not() {
    let gateway = fragile().await;
    until_paused(&gateway, "panic_on/1").await;
    gateway.clock().advance(Duration::from_secs(5)).await;
    assert_internal(&call(&gateway, "panic_on/1").await);
    assert_paused(&call(&gateway, "panic_on/2").await, "panic_on_odd", 10);
    gateway.clock().advance(Duration::from_secs(9)).await;
    assert_paused(&call(&gateway, "panic_on/2").await, "panic_on_odd", 1);
    gateway.clock().advance(Duration::from_secs(1)).await;
    for number in [2, 4] {
        assert_eq!(call(&gateway, &format!("panic_on/{number}")).await.status, 200);
    }
    let report = report(&gateway, "hostile").await;
    assert!(report.paused.is_empty() && report.reason.is_empty(), "{report:?}");
    gateway.stop().await;
}

#[tokio::test]
async fn an_operator_ends_a_pause_at_once() {
    let gateway = fragile().await;
    until_paused(&gateway, "panic_on/1").await;
    let resumed = gateway.gateway().plugins.operate(OperatorAction::Resume, "hostile", "the test").await.unwrap();
    assert!(resumed.is_reached && resumed.report.paused.is_empty(), "{resumed:?}");
    assert_eq!(call(&gateway, "panic_on/2").await.status, 200);
    gateway.stop().await;
}

#[tokio::test]
async fn jobs_and_contributions_are_paused_too() {
    let settings = json!({ "job": "panic", "contribution": "panic" });
    let gateway = gateway_with(settings, |config| config.plugins.fence_faults = 3).await;
    for _ in 0..3 {
        assert_eq!(gateway.get("/api/stats").await.status, 200);
    }
    let paused = async |operation: &str| {
        let paused = report(&gateway, "hostile").await.paused;
        paused.iter().any(|paused| paused.operation == operation)
    };
    let is_paused = async || {
        gateway.clock().advance(Duration::from_millis(200)).await;
        paused("point stats").await && paused("job misbehave").await
    };
    TestGateway::eventually(LIMIT, "both are paused", is_paused).await;
    let faults = report(&gateway, "hostile").await.faults;
    assert_eq!(gateway.get("/api/stats").await.status, 200);
    assert_eq!(report(&gateway, "hostile").await.faults, faults, "it is not called while it is paused");
    assert_eq!(call(&gateway, "rows").await.status, 200);
    gateway.stop().await;
}

#[tokio::test]
async fn a_contribution_of_another_shape_does_not_end_its_pause() {
    let gateway = gateway_with(json!({ "contribution": "misshape" }), |config| config.plugins.fence_faults = 3).await;
    let stats = async || assert_eq!(gateway.get("/api/stats").await.status, 200);
    for _ in 0..3 {
        stats().await;
    }
    let pauses =
        async || report(&gateway, "hostile").await.paused.iter().map(|paused| paused.pauses).collect::<Vec<_>>();
    let is_paused = async || pauses().await == [1];
    TestGateway::eventually(LIMIT, "it is paused", is_paused).await;
    gateway.clock().advance(Duration::from_secs(5)).await;
    stats().await;
    assert_eq!(pauses().await, [2], "the call after the pause failed, too");
    gateway.stop().await;
}

#[tokio::test]
async fn several_paused_operations_fence_a_plugin_until_it_is_switched_off_and_on() {
    let gateway = fragile().await;
    for path in ["panic_on/1", "panic_after_await"] {
        until_paused(&gateway, path).await;
    }
    assert_eq!(report(&gateway, "hostile").await.state, PluginState::Serving);
    for _ in 0..3 {
        assert_internal(&call(&gateway, "panic_at_once").await);
    }
    let fenced = async || report(&gateway, "hostile").await.state == PluginState::Fenced;
    TestGateway::eventually(LIMIT, "the plugin is fenced", fenced).await;
    let told = report(&gateway, "hostile").await;
    let reason = "panic_after_await, panic_at_once, panic_on_odd were paused; panic_at_once: 3 faults within 60s; the last one: \
                  panic in panic_at_once: at once at ";
    assert!(told.reason.starts_with(reason) && told.faults >= 9, "{told:?}");
    for operation in ["rows", "panic_at_once"] {
        let answer = call(&gateway, operation).await;
        assert_eq!((answer.status, answer.code().as_str()), (503, "disabled"), "{}", answer.text());
        assert!(answer.text().contains("it failed too often"), "{}", answer.text());
    }
    assert_others_serve(&gateway, 1).await;

    // The same configuration again is no decision of an operator.
    switch(&gateway, true).await;
    assert_eq!(report(&gateway, "hostile").await.state, PluginState::Fenced);

    switch(&gateway, false).await;
    assert_eq!(report(&gateway, "hostile").await.state, PluginState::Disabled);
    switch(&gateway, true).await;
    assert_eq!(report(&gateway, "hostile").await.state, PluginState::Serving);
    assert_eq!(call(&gateway, "rows").await.status, 200);
    // It starts with no faults counted.
    for _ in 0..2 {
        assert_internal(&call(&gateway, "panic_at_once").await);
    }
    assert_internal(&call(&gateway, "panic_on/1").await);
    assert_others_serve(&gateway, 2).await;
    gateway.stop().await;
}

async fn spawn_three_that_panic(gateway: &TestGateway) {
    for _ in 0..3 {
        assert_eq!(call(gateway, "panic_in_task").await.status, 200);
    }
}

#[tokio::test]
async fn tasks_that_panic_pause_further_tasks_and_nothing_else() {
    let gateway = fragile().await;
    let running = gateway.gateway().active.list();
    let handle = &running.iter().find(|plugin| plugin.name() == "hostile").unwrap().handle;
    let own_tasks = handle.tasks.len();
    spawn_three_that_panic(&gateway).await;
    let is_paused = async || !report(&gateway, "hostile").await.paused.is_empty();
    TestGateway::eventually(LIMIT, "tasks are paused", is_paused).await;
    spawn_three_that_panic(&gateway).await;
    TestGateway::eventually(LIMIT, "no task is left", async || handle.tasks.len() <= own_tasks).await;
    assert_eq!(handle.fault_count(), 3, "no task is run while they are paused");
    let told = report(&gateway, "hostile").await;
    assert_eq!(told.state, PluginState::Serving);
    assert!(told.reason.starts_with("a background task is paused until "), "{}", told.reason);
    assert!(told.reason.contains("panic in evil_task: in a task at "), "{}", told.reason);
    assert_eq!(call(&gateway, "rows").await.status, 200);
    assert_others_serve(&gateway, 1).await;

    gateway.clock().advance(Duration::from_secs(5)).await;
    let told = report(&gateway, "hostile").await;
    assert!(told.paused.is_empty() && told.reason.is_empty(), "{told:?}");
    assert_eq!(call(&gateway, "panic_in_task").await.status, 200);
    let ran = async || handle.fault_count() == 4;
    TestGateway::eventually(LIMIT, "tasks are run again", ran).await;
    gateway.stop().await;
}

#[tokio::test]
async fn paused_tasks_count_as_one_paused_operation() {
    let gateway = fragile().await;
    for path in ["panic_on/1", "panic_after_await"] {
        until_paused(&gateway, path).await;
    }
    assert_eq!(report(&gateway, "hostile").await.state, PluginState::Serving);
    spawn_three_that_panic(&gateway).await;
    let fenced = async || report(&gateway, "hostile").await.state == PluginState::Fenced;
    TestGateway::eventually(LIMIT, "the plugin is fenced", fenced).await;
    let reason = report(&gateway, "hostile").await.reason;
    let expected =
        "a background task, panic_after_await, panic_on_odd were paused; a background task: 3 faults within 60s";
    assert!(reason.starts_with(expected), "{reason}");
    gateway.stop().await;
}

/// A fence request that was sent before an operator restarted the plugin has no effect on the new start.
#[tokio::test]
async fn a_late_fence_does_not_meet_the_next_life() {
    let gateway = gateway_with(json!({}), |config| config.plugins.fence_faults = 1000).await;
    let running = gateway.gateway().active.list();
    let generation = running.iter().find(|plugin| plugin.name() == "hostile").unwrap().handle.generation;
    let request = ContainmentRequest {
        plugin: "hostile".into(),
        generation,
        cause: ContainmentCause::HeldThread,
        reason: "late".into(),
    };
    switch(&gateway, false).await;
    gateway.gateway().plugins.contain(&request).await;
    assert_eq!(report(&gateway, "hostile").await.state, PluginState::Disabled);
    switch(&gateway, true).await;
    gateway.gateway().plugins.contain(&request).await;
    assert_eq!(report(&gateway, "hostile").await.state, PluginState::Serving);
    gateway.stop().await;
}
