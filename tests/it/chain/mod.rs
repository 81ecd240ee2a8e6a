//! The index of chain events, on both databases, against a scripted chain.

mod activity;
mod capability;
mod conflicts;
mod faults;
mod handler_scope;
mod history;
mod ledger;
mod other_chains;
mod property;
mod reorganisation;
mod replicas;
mod reset_steps;
mod rules;
mod two_plugins;
mod unique_keys;
mod upgrade;

use ledger::{BANK, CLOSED, MOVED, OPENED};
use plugin_testing::{Builder, ScriptedChain, ScriptedLog, TestGateway, json};

/// A gateway with the plugin on each database, not yet started.
pub async fn builders(chain: &ScriptedChain) -> Vec<Builder> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    builders.into_iter().map(|builder| builder.plugin(ledger::module()).chain(chain, &[BANK])).collect()
}

/// Adds a second RPC server, to which the gateway fails over soon.
pub fn with_second_server(builder: Builder, second: &ScriptedChain) -> Builder {
    let url = second.url();
    builder.configure(|config| {
        let main = config.chains.get_mut("main").unwrap();
        main.rpc.push(url.into());
        main.timeout_ms = 300;
    })
}

/// The gateway with every block indexed.
pub async fn started(builder: Builder, chain: &ScriptedChain) -> TestGateway {
    let gateway = builder.start().await;
    gateway.indexed(chain).await;
    gateway
}

pub fn opened(id: u64) -> ScriptedLog {
    let owner = format!("0x{id:040x}");
    ScriptedLog::new(BANK, OPENED, &[json!(id), json!(owner), json!(format!("account {id} \u{0} ä😀'\""))])
}

pub fn moved(id: u64, amount: &str) -> ScriptedLog {
    ScriptedLog::new(BANK, MOVED, &[json!(id), json!(amount), json!(format!("0x{id:02x}00ff"))])
}

pub fn closed(id: u64) -> ScriptedLog {
    ScriptedLog::new(BANK, CLOSED, &[json!(id)])
}

/// Everything that is derived, in one text.
pub async fn derived(gateway: &TestGateway) -> String {
    assert_counted_and_indexed(gateway).await;
    let accounts = "SELECT id, owner, name, balance, memo, moves, changed_s FROM ledger_accounts ORDER BY id";
    let moves = "SELECT tx, nth, account, amount, block FROM ledger_moves ORDER BY tx, nth";
    [gateway.rows(accounts).await, gateway.rows(moves).await].concat().join("\n")
}

/// Row counts and search index know the derived rows, with and without an undo log of their changes.
async fn assert_counted_and_indexed(gateway: &TestGateway) {
    let counted = "SELECT moves, row_count FROM ledger_accounts_counts WHERE row_count <> 0 ORDER BY moves";
    let there = "SELECT moves, count(*) FROM ledger_accounts GROUP BY moves ORDER BY moves";
    assert_eq!(gateway.rows(counted).await, gateway.rows(there).await);
    let moves = gateway.rows("SELECT row_count FROM ledger_moves_counts").await;
    assert_eq!(moves, gateway.rows("SELECT count(*) FROM ledger_moves").await);
    if gateway.dialect() == "sqlite" {
        let found =
            "SELECT rowid FROM ledger_accounts_search WHERE ledger_accounts_search MATCH '\"acc\" \"unt\"' ORDER BY 1";
        assert_eq!(gateway.rows(found).await, gateway.rows("SELECT id FROM ledger_accounts ORDER BY id").await);
    }
}

/// The same from a fresh index of the same chain.
pub async fn derived_anew(gateway: &TestGateway, chain: &ScriptedChain) -> String {
    let place = usize::from(gateway.dialect() == "postgres");
    let fresh = builders(chain).await.remove(place).start().await;
    fresh.indexed(chain).await;
    let derived = derived(&fresh).await;
    fresh.stop().await;
    derived
}

/// The derived rows equal those of a fresh index of the chain.
pub async fn assert_as_anew(gateway: &TestGateway, chain: &ScriptedChain) {
    assert_eq!(derived(gateway).await, derived_anew(gateway, chain).await);
}

/// What the activity log says of moves, oldest first: block and transaction.
pub async fn published(gateway: &TestGateway) -> Vec<(u64, String)> {
    let events = gateway.events().await.into_iter().filter(|event| event.kind == "ledger.moved");
    let read = |data: &plugin_testing::Value| {
        (data["block"].as_u64().unwrap_or_default(), data["tx"].as_str().unwrap_or_default().to_owned())
    };
    events.map(|event| read(&event.data)).collect()
}

/// Ends a test: no plugin reported a fault.
pub async fn close(gateway: TestGateway) {
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
}
