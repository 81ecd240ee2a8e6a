//! A plugin that does everything wrong, beside one that does its work: the gateway stays up, the report says what
//! happened and where, and the good one's requests all succeed.

mod clashes;
mod contained_calls;
mod contributions;
mod data;
mod deaths;
mod excess;
mod fence;
mod handlers;
mod jobs;
mod late;
mod lifecycle;
mod process;
mod reach;
mod responses;
mod spins;
mod toggle;
mod variants;

use crate::storage::Engine;
use gateway_config::Config;
use gateway_plugins::{PluginReport, PluginState};
use plugin_testing::{TestGateway, TestResponse, Value, Wallet, json};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);

async fn builder(engine: Engine) -> plugin_testing::Builder {
    match engine {
        Engine::Sqlite => TestGateway::builder(),
        Engine::Postgres => TestGateway::postgres_builder().await.expect("tests have a PostgreSQL server"),
    }
}

/// The hostile plugin and a good one; faults do not take it off.
async fn gateway(settings: Value) -> TestGateway {
    gateway_with(settings, |config| config.plugins.fence_faults = 1000).await
}

async fn gateway_with(settings: Value, change: impl FnOnce(&mut Config)) -> TestGateway {
    let builder = TestGateway::builder().plugin(hello::plugin_module()).plugin(hostile::plugin_module());
    builder
        .config("hostile", settings)
        .configure(|config| config.http.drain_timeout_ms = 500)
        .configure(change)
        .open()
        .await
}

async fn call(gateway: &TestGateway, name: &str) -> TestResponse {
    gateway.get(&format!("/api/hostile/{name}")).await
}

async fn post(gateway: &TestGateway, name: &str) -> TestResponse {
    gateway.send("POST", &format!("/api/hostile/{name}"), &[], "").await
}

async fn report(gateway: &TestGateway, name: &str) -> PluginReport {
    gateway.reports().await.into_iter().find(|report| report.name == name).unwrap()
}

async fn last_fault(gateway: &TestGateway) -> String {
    report(gateway, "hostile").await.last_fault.unwrap_or_default()
}

async fn assert_fault(gateway: &TestGateway, beginning: &str, place: &str) {
    let reported = async || {
        let fault = last_fault(gateway).await;
        fault.starts_with(beginning) && fault.contains(place)
    };
    let what = format!("`{beginning} … {place}`, not `{}`", last_fault(gateway).await);
    TestGateway::eventually(Duration::from_secs(7), &what, reported).await;
}

fn assert_internal(answer: &TestResponse) {
    assert_eq!((answer.status, answer.code().as_str()), (500, "internal"), "{}", answer.text());
}

/// Reads and writes of the good plugin. `number` is a wallet that has not written yet.
async fn assert_others_serve(gateway: &TestGateway, number: u64) {
    let greeting = gateway.get("/api/hello/world").await;
    assert_eq!(greeting.status, 200, "{}", greeting.text());
    let begun = std::time::Instant::now();
    let message = json!({ "message": format!("from {number}") });
    let signed = gateway.post_signed("/api/hello/guests", &Wallet::new(number), "hello.sign", message).await;
    assert_eq!(signed.status, 201, "{}", signed.text());
    assert!(begun.elapsed() < Duration::from_secs(1), "the write waited for {:?}", begun.elapsed());
    assert_eq!(gateway.get("/api/hello/guests").await.status, 200);
}

async fn assert_serving(gateway: &TestGateway) {
    let report = report(gateway, "hostile").await;
    assert_eq!((report.state, report.reason.as_str()), (PluginState::Serving, ""));
}

/// The configuration with the hostile plugin on or off.
fn switched(gateway: &TestGateway, is_on: bool) -> Config {
    let mut config = Config::clone(&gateway.gateway().config);
    config.plugins.sections.entry("hostile".into()).or_default().enabled = Some(is_on);
    config
}

async fn switch(gateway: &TestGateway, is_on: bool) {
    gateway.gateway().plugins.reconcile(&switched(gateway, is_on)).await;
}
