//! A plugin that ends the process is named by the next start.

use super::process::prepared;
use crate::e2e::{Site, answer};
use gateway_tests::process::{GatewayProcess, LIMIT, Setup};
use plugin_testing::{TestGateway, Value};
use reqwest::Method;
use rstest::rstest;

async fn hostile_report(gateway: &GatewayProcess) -> Value {
    let reports = Site::at(gateway.admin_url()).get("/plugins").await.json();
    reports.as_array().unwrap().iter().find(|report| report["name"] == "hostile").unwrap().clone()
}

fn warnings_of(setup: &Setup, operation: &str) -> usize {
    let log = setup.log();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let named =
        lines.filter(|line| line["plugin"] == "hostile" && line["operation"] == operation && line["level"] == "WARN");
    named.count()
}

#[rstest]
#[case::exit("exit", "exit_in_handler")]
#[case::abort("abort", "abort_in_handler")]
#[case::overflow("overflow", "overflow_the_stack")]
#[tokio::test]
async fn the_next_start_names_the_operation_that_ended_the_process(#[case] path: &str, #[case] operation: &str) {
    let setup = prepared().await;
    let mut gateway = setup.start().await.unwrap();
    assert_eq!(Site::of(&gateway).get("/api/hostile/rows").await.status, 200);
    assert!(Site::of(&gateway).request(Method::GET, &format!("/api/hostile/{path}")).send().await.is_err());
    assert!(!gateway.ended(LIMIT).await.unwrap().success());
    let mut gateway = setup.start().await.unwrap();
    assert_eq!(warnings_of(&setup, operation), 1, "{}", setup.log());
    let report = hostile_report(&gateway).await;
    assert_eq!(report["state"], "serving", "one request is no reason to take it off");
    assert_eq!(report["reason"], format!("was running when the gateway died the last time: {operation}"));
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
    // It is told once, and a stop is no death.
    let gateway = setup.start().await.unwrap();
    assert_eq!((warnings_of(&setup, operation), &hostile_report(&gateway).await["reason"]), (1, &"".into()));
}

/// Other code of the plugin may have run at the same time.
async fn assert_named(setup: &Setup, operation: &str) {
    let gateway = setup.start().await.unwrap();
    assert_eq!(warnings_of(setup, operation), 1, "{}", setup.log());
    let report = hostile_report(&gateway).await;
    assert_eq!(report["state"], "serving", "{report}");
    let reason = report["reason"].as_str().unwrap();
    assert!(reason.starts_with("was running when the gateway died the last time: "), "{reason}");
    assert!(reason.contains(operation), "{reason}");
}

#[rstest]
#[case::a_job("job", "job misbehave")]
#[case::a_contribution("contribution", "point status")]
#[tokio::test]
async fn the_next_start_names_code_that_no_request_named(#[case] act: &str, #[case] operation: &str) {
    let setup = prepared().await;
    let deadly = setup.clone().set(&format!("plugins.hostile.{act}"), "abort");
    // A job may run before the gateway says that it serves.
    if let Ok(mut gateway) = deadly.start().await {
        let _ = Site::of(&gateway).request(Method::GET, "/api/status").send().await;
        assert!(!gateway.ended(LIMIT).await.unwrap().success());
    }
    assert_named(&setup, operation).await;
}

/// Blocking work belongs to the operation that asked for it.
#[rstest]
#[case::a_task("abort_in_task", "a background task")]
#[case::blocking_work("abort_in_blocking", "abort_in_blocking")]
#[tokio::test]
async fn the_next_start_names_code_beside_the_handler(#[case] path: &str, #[case] operation: &str) {
    let setup = prepared().await;
    let mut gateway = setup.start().await.unwrap();
    // The answer may come before the end.
    let _ = Site::of(&gateway).request(Method::GET, &format!("/api/hostile/{path}")).send().await;
    assert!(!gateway.ended(LIMIT).await.unwrap().success());
    assert_named(&setup, operation).await;
}

#[rstest]
#[case("stop")]
#[case("drop")]
#[tokio::test]
async fn the_next_start_names_what_ended_the_process_on_its_way_down(#[case] act: &str) {
    let setup = prepared().await;
    let mut gateway = setup.clone().set(&format!("plugins.hostile.{act}"), "abort").start().await.unwrap();
    assert!(!gateway.terminate(LIMIT).await.unwrap().success());
    assert_named(&setup, act).await;
}

/// As the system does when there is no memory left.
#[tokio::test]
async fn the_next_start_names_what_was_running_when_the_process_was_killed() {
    let setup = prepared().await;
    let mut gateway = setup.start().await.unwrap();
    let request = Site::of(&gateway).request(Method::GET, "/api/hostile/spin");
    let spinning = tokio::spawn(async move { request.send().await });
    let is_found = async || hostile_report(&gateway).await["threads_lost"] == 1;
    TestGateway::eventually(LIMIT, "it is on a thread", is_found).await;
    gateway.kill().await.unwrap();
    assert!(spinning.await.unwrap().is_err());
    assert_named(&setup, "spin_in_handler").await;
}

#[tokio::test]
async fn a_constructor_that_ends_the_process_twice_is_skipped_until_an_operator_enables_it() {
    let setup = prepared().await;
    let deadly = setup.clone().set("plugins.hostile.constructor", "exit");
    for _ in 0..2 {
        assert!(deadly.start().await.is_err());
    }
    let gateway = deadly.start().await.unwrap();
    assert_eq!(Site::of(&gateway).get("/api/hello/world").await.status, 200);
    let report = hostile_report(&gateway).await;
    assert_eq!(report["state"], "failed", "{report}");
    let reason =
        "skipped: the process has died 2 times in its constructor; `gateway plugins enable hostile` tries it again";
    assert_eq!(report["reason"], reason);
    assert_eq!(warnings_of(&setup, "its start: in its constructor"), 2, "{}", setup.log());
    drop(gateway);

    let gateway = setup.start().await.unwrap();
    assert_eq!(hostile_report(&gateway).await["state"], "failed", "a restart is no decision");
    let enable = Site::at(gateway.admin_url()).request(Method::POST, "/plugins/hostile/enable");
    let enabled = answer(enable.header("x-gateway-admin", "1")).await;
    assert_eq!(enabled.json()["state"], "serving", "{}", enabled.text());
    assert_eq!(Site::of(&gateway).get("/api/hostile/rows").await.status, 200);
}
