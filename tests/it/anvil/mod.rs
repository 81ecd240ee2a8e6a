//! The index against a real node: the dev network with its contracts, and the proxy that misbehaves.
//!
//! `cargo xtask test` installs what the dev network needs. Each test has a chain of its own.

mod faults;
mod head;
mod mirror;
mod property;
mod script;

use gateway_tests::devnet::Devnet;
use host::{chain::index::IndexReport, config::ChainConfig};
use plugin_api::Hash256;
use plugin_testing::{Builder, TestGateway, Value, json};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);
/// In wei.
const FMX: u128 = 1_000_000_000_000_000_000;

/// The chain as its `chains.toml` says it, asked often.
fn settings(devnet: &Devnet) -> ChainConfig {
    ChainConfig {
        rpc: vec![devnet.facts.rpc_url.as_str().into()],
        chain_id: Some(devnet.facts.chain_id),
        deploy_block: Some(1),
        poll_ms: 20,
        timeout_ms: 1000,
        contracts: devnet.facts.contracts.clone(),
        ..ChainConfig::default()
    }
}

/// A gateway with the plugin on each database, not yet started.
async fn builders(settings: &ChainConfig) -> Vec<Builder> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    builders.into_iter().map(|builder| with(builder, settings)).collect()
}

fn with(builder: Builder, settings: &ChainConfig) -> Builder {
    let settings = settings.clone();
    builder.plugin(mirror::module()).configure(|config| {
        config.chains.insert("main".to_owned(), settings);
    })
}

/// Waits until the newest block is indexed.
async fn indexed(house: &TestGateway, devnet: &Devnet) {
    let newest = newest(devnet).await;
    house.indexed_up_to(|| newest).await;
}

async fn newest(devnet: &Devnet) -> (u64, Hash256) {
    let block = devnet.call("eth_getBlockByNumber", json!(["latest", false])).await.unwrap();
    let number = u64::from_str_radix(block["number"].as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
    (number, serde_json::from_value(block["hash"].clone()).unwrap())
}

/// Everything that is derived, in one text.
async fn derived(house: &TestGateway) -> String {
    let mut all = Vec::new();
    for (table, key) in [("mirror_agents", "id"), ("mirror_jobs", "id"), ("mirror_steps", "tx, nth")] {
        all.push(table.to_owned());
        all.extend(house.rows(&format!("SELECT * FROM {table} ORDER BY {key}")).await);
    }
    all.join("\n")
}

/// The activity log, oldest first: what and when, without the numbers that it gives itself.
async fn published(house: &TestGateway) -> Vec<String> {
    let events = house.events().await;
    events.into_iter().map(|event| format!("{} {} {}", event.ts, event.kind, event.data)).collect()
}

/// What is derived and public is what a gateway has that sees this chain for the first time.
async fn assert_as_anew(house: &TestGateway, settings: &ChainConfig, devnet: &Devnet, story: &str) {
    let place = usize::from(house.dialect() == "postgres");
    let fresh = builders(settings).await.remove(place).start().await;
    indexed(&fresh, devnet).await;
    assert_eq!(derived(house).await, derived(&fresh).await, "{story}");
    assert_eq!(published(house).await, published(&fresh).await, "{story}");
    close(fresh).await;
}

/// An agent and a job on it that is paid for: three blocks.
async fn play(devnet: &Devnet, agent: u64) {
    let id = agent.to_string();
    devnet
        .send("user1", "registry", script::REGISTER, &["ä😀'", "https://a.example", "", "1"], 100 * FMX)
        .await
        .unwrap();
    let input = format!("0x{agent:064x}");
    devnet.send("user2", "escrow", script::REQUEST, &[&id, &input, ""], FMX).await.unwrap();
    devnet.send("user1", "escrow", script::DELIVER, &[&id, &input, ""], 0).await.unwrap();
    let last = devnet.send("user2", "escrow", script::RELEASE, &[&id, "5"], 0).await.unwrap();
    devnet.included(&last).await.unwrap();
}

fn report(house: &TestGateway) -> IndexReport {
    house.gateway().services.indexes.reports().remove(0)
}

/// A service of `/api/status`.
async fn service(house: &TestGateway, name: &str) -> Value {
    house.get("/api/status").await.json()["services"][name].clone()
}

/// The end of a good test.
async fn close(house: TestGateway) {
    assert_eq!(house.faults().await, Vec::<String>::new());
    house.stop().await;
}
