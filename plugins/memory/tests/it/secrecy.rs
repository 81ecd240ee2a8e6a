//! No key and no value is in a log, an event, a report or a table.

use super::{
    MEMORY, delete,
    fixture::{CONTRACTS, agent, anchored, owner},
    get, list, path_of, put, store,
};
use plugin_testing::{Builder, ScriptedChain, TestGateway, json};
use std::{
    io::Write,
    sync::{Arc, Mutex},
};
use tracing_subscriber::fmt::MakeWriter;

const KEY: &str = "diary-of-the-quokka";
const VALUE: &str = "the wombat knows everything";

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

fn assert_silent(place: &str, text: &str) {
    for (what, secret) in [("key", KEY), ("value", VALUE)] {
        let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        let is_there = text.contains(secret) || text.to_lowercase().contains(&hex);
        assert!(!is_there, "{place} has the {what}: {text}");
    }
}

async fn assert_tables_are_silent(gateway: &TestGateway) {
    let hex = if gateway.dialect() == "sqlite" { "hex(?)" } else { "encode(?, 'hex')" };
    let blob = |column: &str| hex.replace('?', column);
    for (table, columns) in [
        ("memory_values", format!("address, name_tag, key_id, {}, {}", blob("sealed_name"), blob("sealed_value"))),
        ("memory_records", format!("record, record_hash, {}", blob("sealed_key"))),
        ("memory_heads", "address, head_hash".to_owned()),
        ("memory_batches", format!("root, uri, {}", blob("tree"))),
        ("host_activity", "data".to_owned()),
    ] {
        let rows = gateway.rows(&format!("SELECT {columns} FROM {table}")).await;
        assert!(table == "host_activity" || !rows.is_empty(), "{table} has rows");
        assert_silent(table, &rows.join("\n"));
    }
}

/// Every route with every outcome that has to do with a key.
async fn use_memory(gateway: &TestGateway, chain: &ScriptedChain) {
    let wallet = owner();
    store(gateway, &wallet, KEY, json!(VALUE)).await;
    store(gateway, &wallet, KEY, json!({ "text": VALUE })).await;
    put(gateway, &wallet, KEY, json!(VALUE.repeat(3000))).await;
    assert_eq!(get(gateway, &wallet, KEY).await.status, 200);
    list(gateway, &wallet).await;
    gateway.get(&path_of(KEY)).await;
    gateway.send("PATCH", &path_of(KEY), &[], "").await;
    gateway.send("PUT", &path_of(KEY), &[], format!("{{\"value\":\"{VALUE}")).await;
    gateway.clock().advance(std::time::Duration::from_secs(1)).await;
    let batch = gateway.post_signed(&format!("{MEMORY}/anchor"), &wallet, "memory.anchor", json!({})).await;
    assert_eq!(batch.status, 201, "{}", batch.text());
    chain.mine(vec![anchored(1, 1, &batch.json()["root"], &json!(super::ZERO), 2)]);
    chain.mine_empty(3);
    gateway.indexed(chain).await;
    for path in [
        "/api/memory/anchors",
        "/api/memory/proof/1/1",
        "/api/activity",
        "/api/stats",
        "/api/status",
        "/api/openapi.json",
    ] {
        assert_silent(path, &gateway.get(path).await.text());
    }
    store(gateway, &wallet, "other", json!(1)).await;
    // A row that does not open is a fault, which is logged and reported.
    gateway.execute("UPDATE memory_values SET sealed_value = sealed_name").await;
    assert_eq!(get(gateway, &wallet, KEY).await.status, 500);
    assert_eq!(delete(gateway, &wallet, KEY).await.status, 200);
    assert!(!delete(gateway, &wallet, KEY).await.is_success());
}

fn with_chain(builder: Builder, chain: &ScriptedChain) -> Builder {
    let quick = builder.configure(|config| config.limits.write_interval_ms = 0);
    quick.plugin(memory::plugin_module()).chain(chain, &CONTRACTS)
}

#[tokio::test]
async fn nobody_but_the_owner_learns_a_key_or_a_value() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let builders = [Some(TestGateway::builder()), TestGateway::postgres_builder().await];
    for builder in builders.into_iter().flatten() {
        let chain = ScriptedChain::start().await;
        chain.mine(vec![agent(1, &owner())]);
        let gateway = with_chain(builder, &chain).start().await;
        gateway.indexed(&chain).await;
        use_memory(&gateway, &chain).await;
        assert_tables_are_silent(&gateway).await;
        for report in gateway.reports().await {
            assert_silent("the report", &format!("{report:?}"));
        }
        for event in gateway.events().await {
            assert_silent("an event", &event.data.to_string());
        }
        gateway.stop().await;
    }
    let text = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    assert!(text.contains("it does not open"), "the log is captured: {text}");
    assert_silent("the log", &text);
}
