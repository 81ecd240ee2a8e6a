//! Code of a plugin that never gives its thread back: it costs the plugin its place, and nobody else anything.

use super::process::start;
use crate::e2e::{Site, answer};
use gateway_tests::process::{GatewayProcess, LIMIT};
use plugin_testing::{TestGateway, Value, Wallet, json};
use reqwest::Method;
use rstest::rstest;
use std::time::Duration;

/// A stop with threads that hang: the time limits of the drain, and what a busy machine adds.
const STOP_LIMIT: Duration = Duration::from_secs(30);

/// What callers of a plugin read that holds a thread, those that waited for it included.
const HELD_THREAD: &str = "its code did not give a thread back, and it waits for the operator to resume it";

async fn hostile_report(gateway: &GatewayProcess) -> Value {
    let reports = Site::at(gateway.admin_url()).get("/plugins").await.json();
    reports.as_array().unwrap().iter().find(|report| report["name"] == "hostile").unwrap().clone()
}

async fn fenced_report(gateway: &GatewayProcess) -> Value {
    let is_fenced = async || hostile_report(gateway).await["state"] == "fenced";
    TestGateway::eventually(LIMIT, "the plugin is fenced", is_fenced).await;
    hostile_report(gateway).await
}

/// The API, the operator's listener and the log go on, and the report names who held how many threads.
async fn assert_contained(gateway: &GatewayProcess, operation: &str) {
    let report = fenced_report(gateway).await;
    let threads = std::thread::available_parallelism().unwrap().get() as u64;
    let lost = report["threads_lost"].as_u64().unwrap();
    assert!((1..=threads).contains(&lost), "{report}");
    let reason = report["reason"].as_str().unwrap();
    assert!(reason.contains(operation) && reason.contains("has held a thread"), "{report}");
    let log = gateway.setup().log();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut named = lines.filter(|line| line["plugin"] == "hostile" && line["operation"] == operation);
    assert!(named.any(|line| line["level"] == "ERROR"), "no error names {operation}: {log}");

    let (site, operator) = (Site::of(gateway), Site::at(gateway.admin_url()));
    for _ in 0..20 {
        assert_eq!(site.get("/api/hello/world").await.status, 200);
        let refused = site.get("/api/hostile/rows").await;
        assert_eq!((refused.status, refused.code().as_str()), (503, "disabled"), "{}", refused.text());
        assert!(refused.text().contains(HELD_THREAD), "{}", refused.text());
    }
    // A transaction that was open ends with its time limit.
    let signed =
        site.write("/api/hello/guests", &Wallet::new(1), "hello.sign", json!({ "message": "still here" })).await;
    assert_eq!(signed.status, 201, "{}", signed.text());
    assert_eq!(site.get("/api/status").await.json()["services"]["plugins"]["threadsLost"], json!(lost));
    let page = operator.get("/").await;
    assert!(page.status == 200 && page.text().contains("has held a thread"), "{}", page.text());
    let metrics = operator.get("/metrics").await.text();
    assert!(metrics.contains(&format!("gateway_plugin_threads_lost{{plugin=\"hostile\"}} {lost}")), "{metrics}");
}

#[rstest]
#[case(1)]
#[case(2)]
#[case(100)]
#[tokio::test]
async fn requests_that_never_end_cost_their_own_plugin_only(#[case] requests: usize) {
    let mut gateway = start(|setup| setup.set("http.drain_timeout_ms", 1000)).await;
    let site = Site::of(&gateway);
    let spinning: Vec<_> = (0..requests)
        .map(|_| {
            let request = Site::of(&gateway).request(Method::GET, "/api/hostile/spin");
            tokio::spawn(async move {
                let response = request.send().await.unwrap();
                (response.status().as_u16(), response.text().await.unwrap())
            })
        })
        .collect();
    assert_contained(&gateway, "spin_in_handler").await;
    // Those that got no thread have their answer; those that did wait for ever.
    let lost = usize::try_from(hostile_report(&gateway).await["threads_lost"].as_u64().unwrap()).unwrap();
    let mut answered = 0;
    for request in spinning {
        match tokio::time::timeout(Duration::from_millis(if answered + lost < requests { 5000 } else { 1 }), request)
            .await
        {
            Ok(status) => {
                let (status, text) = status.unwrap();
                assert!(status == 503 && text.contains(HELD_THREAD), "{status}: {text}");
                answered += 1;
            }
            Err(_elapsed) => {}
        }
    }
    assert_eq!(answered + lost, requests);
    assert_eq!(site.get("/api/hello/world").await.status, 200);
    assert!(gateway.terminate(STOP_LIMIT).await.unwrap().success());
}

#[rstest]
#[case::before_the_future("spin_at_once", "spin_at_once")]
#[case::in_a_drop("spin_in_drop", "spin_in_drop")]
#[case::in_a_stream("spin_in_stream", "spin_in_stream")]
#[case::in_a_task("spin_in_task", "a background task")]
#[case::with_a_transaction("spin_in_write", "spin_in_write")]
#[tokio::test]
async fn so_does_code_beside_the_handler(#[case] route: &str, #[case] operation: &str) {
    let mut gateway = start(|setup| setup.set("http.drain_timeout_ms", 1000)).await;
    for _ in 0..3 {
        let request = Site::of(&gateway).request(Method::GET, &format!("/api/hostile/{route}"));
        tokio::spawn(async move { request.send().await?.bytes().await });
    }
    assert_contained(&gateway, operation).await;
    assert!(gateway.terminate(STOP_LIMIT).await.unwrap().success());
}

#[rstest]
#[case::a_job("job", "job misbehave")]
#[case::a_contribution("contribution", "point status")]
#[tokio::test]
async fn so_does_code_that_no_request_named(#[case] act: &str, #[case] operation: &str) {
    let mut gateway =
        start(|setup| setup.set("http.drain_timeout_ms", 1000).set(&format!("plugins.hostile.{act}"), "spin")).await;
    let site = Site::of(&gateway);
    if act == "contribution" {
        tokio::spawn(async move { site.request(Method::GET, "/api/status").send().await });
    }
    assert_contained(&gateway, operation).await;
    assert!(gateway.terminate(STOP_LIMIT).await.unwrap().success());
}

/// It is no different while it lasts; then the thread is back.
#[tokio::test]
async fn code_that_blocks_for_a_while_counts_as_lost_until_it_returns() {
    let mut gateway = start(|setup| setup.set("http.drain_timeout_ms", 1000)).await;
    let request = Site::of(&gateway).request(Method::GET, "/api/hostile/block_for_long");
    let blocked = tokio::spawn(async move { request.send().await.map(|response| response.status().as_u16()) });
    assert_contained(&gateway, "block_for_long").await;
    assert_eq!(blocked.await.unwrap().unwrap(), 200, "it did end");
    let is_back = async || hostile_report(&gateway).await["threads_lost"] == 0;
    TestGateway::eventually(LIMIT, "the thread is back", is_back).await;
    assert_eq!(hostile_report(&gateway).await["state"], "fenced");
    assert!(gateway.terminate(STOP_LIMIT).await.unwrap().success());
}

/// While there are spare threads an operator may try it again. Then its next threads would be those of the others.
#[tokio::test]
async fn a_plugin_that_holds_many_threads_waits_for_a_restart() {
    let mut gateway = start(|setup| setup.set("http.drain_timeout_ms", 1000)).await;
    let resume = async || {
        let request = Site::at(gateway.admin_url()).request(Method::POST, "/plugins/hostile/resume");
        answer(request.header("x-gateway-admin", "1")).await.json()
    };
    let mut starts = 1;
    loop {
        for _ in 0..std::thread::available_parallelism().unwrap().get() {
            let request = Site::of(&gateway).request(Method::GET, "/api/hostile/block_for_ever");
            tokio::spawn(async move { request.send().await });
        }
        fenced_report(&gateway).await;
        if resume().await["state"] != "serving" {
            break;
        }
        starts += 1;
    }
    assert!(starts > 1 || std::thread::available_parallelism().unwrap().get() > 32, "there are spare threads");
    // The last ones are found a second after they began.
    let is_told = async || {
        let report = resume().await;
        let lost = report["threads_lost"].as_u64().unwrap();
        let reason = format!("its code holds {lost} threads of this process: restart the gateway to start it again");
        report["state"] == "failed" && report["reason"] == reason
    };
    TestGateway::eventually(LIMIT, "the operator reads why it does not start", is_told).await;
    assert_eq!(Site::of(&gateway).get("/api/hello/world").await.status, 200);
    assert!(gateway.terminate(STOP_LIMIT).await.unwrap().success());
}
