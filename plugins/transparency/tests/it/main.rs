//! The transparency log in a gateway, on each database; verified with crates of another hand.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod audit;
mod configuration;
mod contributions;
mod crashed;
mod get_log_checkpoint;
mod get_log_entries;
mod get_log_tile;
mod new_origin;
mod publish_root;
mod replicas;
mod set_back;

use audit::audit;
use plugin_testing::{Builder, TestGateway, Value, Wallet, json};
use std::{path::PathBuf, time::Duration};

const CHECKPOINT: &str = "/api/log/checkpoint";
const ORIGIN: &str = "log.example/test";
const STEP: Duration = Duration::from_secs(2);
const LIMIT: Duration = Duration::from_secs(30);

/// One for each database: the log, and a plugin whose events it has.
async fn builders() -> Vec<Builder> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let plugins = |builder: Builder| builder.plugin(hello::plugin_module()).plugin(transparency::plugin_module());
    let quick = |builder: Builder| builder.configure(|config| config.limits.write_interval_ms = 0);
    builders
        .into_iter()
        .map(|builder| quick(plugins(builder)).config("transparency", json!({ "origin": ORIGIN })))
        .collect()
}

async fn gateways() -> Vec<TestGateway> {
    let mut gateways = Vec::new();
    for builder in builders().await {
        gateways.push(builder.start().await);
    }
    gateways
}

/// Publishes so many events.
async fn publish(gateway: &TestGateway, count: u64) {
    let wallet = Wallet::new(1);
    for number in 0..count {
        let message = format!("{number} at {}", gateway.now_s());
        let response =
            gateway.post_signed("/api/hello/guests", &wallet, "hello.sign", json!({ "message": message })).await;
        assert_eq!(response.status, 201, "{}", response.text());
    }
    // Public, on PostgreSQL too: so one run appends all of them.
    gateway.events().await;
}

/// Lets time pass until this holds: a run that is going on when the clock moves begins its next interval at its end.
async fn passing<F: Future<Output = bool>>(gateway: &TestGateway, what: &str, condition: impl Fn() -> F) {
    TestGateway::eventually(LIMIT, what, async || {
        gateway.clock().advance(STEP).await;
        condition().await
    })
    .await;
}

/// Lets a run of the job that signs begin and end.
async fn run_job(gateway: &TestGateway) {
    let select = "SELECT runs FROM host_job_runs WHERE plugin = 'transparency' AND job = 'sign_checkpoint'";
    // The first of the two may have begun before.
    for _ in 0..2 {
        let before = gateway.rows(select).await;
        passing(gateway, "a run of the job", async || gateway.rows(select).await != before).await;
    }
}

/// Lets the job run until the checkpoint has this size; returns it.
async fn signed(gateway: &TestGateway, size: usize) -> String {
    let what = format!("a checkpoint of size {size}");
    passing(gateway, &what, async || size_of(gateway).await == Some(size)).await;
    checkpoint(gateway).await
}

async fn checkpoint(gateway: &TestGateway) -> String {
    let response = gateway.get(CHECKPOINT).await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.text()
}

async fn size_of(gateway: &TestGateway) -> Option<usize> {
    let response = gateway.get(CHECKPOINT).await;
    response.text().lines().nth(1)?.parse().ok()
}

/// Restarts it with another section of the configuration.
async fn restarted(gateway: TestGateway, settings: &Value) -> TestGateway {
    let configured = gateway.restart_after(|config| {
        let section = config.plugins.sections.get_mut("transparency").unwrap();
        section.config = settings.as_object().unwrap().clone();
    });
    configured.await
}

/// Where this gateway keeps what it has published.
fn kept_file(gateway: &TestGateway) -> PathBuf {
    gateway.gateway().config.data_dir.join("files/transparency/checkpoint")
}

fn kept(gateway: &TestGateway) -> String {
    std::fs::read_to_string(kept_file(gateway)).unwrap()
}

/// Makes the database what it was when the log had this size, as a backup of then does: the events after it are gone.
async fn set_back(gateway: &TestGateway, size: usize) {
    let bytes = 32 * size;
    assert!(size < 256, "one tile");
    for statement in [
        format!(
            "DELETE FROM host_activity WHERE id > (SELECT max(event_id) FROM transparency_leaves WHERE leaf < {size})"
        ),
        format!("DELETE FROM transparency_leaves WHERE leaf >= {size}"),
        format!("DELETE FROM transparency_checkpoints WHERE size > {size}"),
        format!("UPDATE transparency_tiles SET hashes = substr(hashes, 1, {bytes})"),
    ] {
        gateway.execute(&statement).await;
    }
}

async fn health(gateway: &TestGateway) -> Value {
    gateway.collect("health", &json!({})).await["transparency"]["transparencyLog"].clone()
}

/// All routes say that the log is stopped; returns the reason.
async fn stop_reason(gateway: &TestGateway) -> String {
    let mut reasons = Vec::new();
    for path in [CHECKPOINT, "/api/log/tile/0/000.p/1", "/api/log/tile/entries/000.p/1"] {
        let response = gateway.get(path).await;
        assert_eq!(response.status, 503, "{path}: {}", response.text());
        let body = response.json();
        assert_eq!((&body["code"], &body["disabled"]), (&json!("disabled"), &json!(true)), "{body}");
        reasons.push(body["reason"].as_str().unwrap().to_owned());
    }
    assert_eq!(health(gateway).await, json!({ "ok": false, "reason": reasons[0] }));
    reasons.swap_remove(0)
}

/// Ends a test: no plugin reported a fault.
async fn close(gateway: TestGateway) {
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
}
