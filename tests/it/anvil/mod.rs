//! The index against a real node: the dev network with its contracts, and the proxy that misbehaves.
//!
//! `cargo xtask test` installs what the dev network needs. Each test has a chain of its own.

mod agreement;
mod economy;
mod faults;
mod growth;
mod head;
mod property;
mod script;
mod work;

use gateway_config::ChainConfig;
use gateway_indexer::IndexReport;
use gateway_tests::{devnet::Devnet, mirror};
use plugin_api::{Hash256, abi::PluginModule_Ref};
use plugin_testing::{Builder, TestGateway, Value, json, manifest};
use std::{collections::BTreeSet, time::Duration};

const LIMIT: Duration = Duration::from_secs(60);
/// In wei.
const FMX: u128 = 1_000_000_000_000_000_000;

/// The chain as in its `gateway.toml`, polled often.
fn settings(devnet: &Devnet) -> ChainConfig {
    ChainConfig {
        rpc: vec![devnet.facts.rpc_url.as_str().into()],
        chain_id: Some(devnet.facts.chain_id),
        deploy_block: Some(1),
        poll_ms: 20,
        timeout_ms: 2000,
        contracts: devnet.facts.contracts.clone(),
        ..ChainConfig::default()
    }
}

/// A gateway with the plugin on each database, not yet started.
async fn builders(settings: &ChainConfig) -> Vec<Builder> {
    builders_with(settings, &[mirror::module()]).await
}

async fn builders_with(settings: &ChainConfig, plugins: &[PluginModule_Ref]) -> Vec<Builder> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let with = |builder: Builder| {
        let settings = settings.clone();
        let builder = plugins.iter().fold(builder, |builder, plugin| builder.plugin(*plugin));
        builder.configure(|config| {
            config.chains.insert("main".to_owned(), settings);
        })
    };
    builders.into_iter().map(with).collect()
}

/// Waits until the newest block is indexed.
async fn indexed(gateway: &TestGateway, devnet: &Devnet) {
    let newest = newest(devnet).await;
    gateway.indexed_up_to(|| newest).await;
}

async fn newest(devnet: &Devnet) -> (u64, Hash256) {
    let block = devnet.call("eth_getBlockByNumber", json!(["latest", false])).await.unwrap();
    let number = u64::from_str_radix(block["number"].as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
    (number, serde_json::from_value(block["hash"].clone()).unwrap())
}

/// Everything that is derived, in one text.
async fn derived(gateway: &TestGateway) -> String {
    derived_by(gateway, &[mirror::module()]).await
}

async fn derived_by(gateway: &TestGateway, plugins: &[PluginModule_Ref]) -> String {
    let mut all = Vec::new();
    for plugin in plugins {
        let subscriptions = manifest(*plugin).subscriptions;
        let tables: BTreeSet<String> = subscriptions.into_iter().flat_map(|one| one.derived_tables).collect();
        for table in tables {
            let mut rows = gateway.rows(&format!("SELECT * FROM {table}")).await;
            rows.sort();
            all.push(table);
            all.extend(rows);
        }
    }
    all.join("\n")
}

/// The public events of all plugins, oldest first, without the ids of the activity log: those of the chain are in its order.
async fn published(gateway: &TestGateway) -> Vec<String> {
    let mut events = gateway.events().await;
    events.retain(|event| event.kind != "chain.retracted");
    events.into_iter().map(|event| format!("{} {} {}", event.ts, event.kind, event.data)).collect()
}

/// Derived rows and public events equal those of a gateway that indexes this chain for the first time.
async fn assert_as_anew(gateway: &TestGateway, settings: &ChainConfig, devnet: &Devnet, case: &str) {
    let plugins = [mirror::module()];
    let fresh = fresh_index(gateway, settings, devnet, &plugins).await;
    assert_eq!(derived_by(gateway, &plugins).await, derived_by(&fresh, &plugins).await, "{case}");
    assert_eq!(published(gateway).await, published(&fresh).await, "{case}");
    fresh.stop().await;
}

/// A gateway on the same kind of database that has indexed the whole chain as it is now.
async fn fresh_index(
    gateway: &TestGateway,
    settings: &ChainConfig,
    devnet: &Devnet,
    plugins: &[PluginModule_Ref],
) -> TestGateway {
    let place = usize::from(gateway.dialect() == "postgres");
    let fresh = builders_with(settings, plugins).await.remove(place).start().await;
    indexed(&fresh, devnet).await;
    fresh
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

fn report(gateway: &TestGateway) -> IndexReport {
    gateway.gateway().indexes.reports().remove(0)
}

/// A service of `/api/status`.
async fn service(gateway: &TestGateway, name: &str) -> Value {
    gateway.get("/api/status").await.json()["services"][name].clone()
}

/// Ends a test: no plugin reported a fault.
async fn close(gateway: TestGateway) {
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
}
