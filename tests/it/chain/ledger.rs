//! The plugin of these tests: accounts and their moves, derived from the events of one contract.

use plugin_api::{
    Address, ConfigError, Definition, Grants, HostError, HostHandle, Migration, NoConfig, Plugin, PluginContext,
    Query as _, Tx,
    abi::PluginModule_Ref,
    contracts::{ChainEvent, ContractEvent, chain_int},
    host::Identity,
    point::Point,
    sql,
    stream::EventBuilder,
};
use serde::Deserialize;
use serde_json::json;
use std::{
    ops::Range,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    time::Duration,
};

/// Key of the contract.
pub const BANK: &str = "bank";
pub const OPENED: &str = "Opened(uint256 indexed id, address indexed owner, string name)";
pub const MOVED: &str = "Moved(uint256 indexed id, uint256 amount, bytes memo)";
pub const CLOSED: &str = Closed::SIGNATURE;
const TABLES: [&str; 2] = ["ledger_accounts", "ledger_moves"];
const MIGRATION: &str = "
CREATE TABLE ledger_accounts (
    id BIGINT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    balance TEXT NOT NULL,
    memo {{blob}},
    moves BIGINT NOT NULL,
    changed_s BIGINT NOT NULL
);
CREATE TABLE ledger_moves (
    tx TEXT NOT NULL,
    nth BIGINT NOT NULL,
    account BIGINT NOT NULL,
    amount TEXT NOT NULL,
    block BIGINT NOT NULL,
    PRIMARY KEY (tx, nth)
);
CREATE TABLE ledger_notes (note TEXT NOT NULL);
";
const INDEXES: &str =
    "{{search_index ledger_accounts (name)}} {{row_counts ledger_accounts (moves)}} {{row_counts ledger_moves ()}}";

/// How many of the next `Moved` events are not applied.
pub static REFUSALS: AtomicU32 = AtomicU32::new(0);
/// How many of the next openings of [`HANGING`] end only after the limit of an event.
pub static HANGS: AtomicU32 = AtomicU32::new(0);
pub const HANGING: u64 = 669;
const HANG: Duration = Duration::from_secs(6);
/// An account that makes its handler write what it must not.
pub const TRESPASSER: i64 = 666;
/// An account that makes its handler write what the database refuses.
pub const CLASHING: i64 = 667;
/// The opening of this account publishes an event of a type that the plugin does not declare.
pub const IMPOSTOR: i64 = 668;
/// The opening of one of these accounts takes a while, within the transaction.
pub const SLOW: Range<u64> = 700..730;
const SLOW_TIME: Duration = Duration::from_millis(20);

pub struct Ledger;

impl Identity for Ledger {
    const NAME: &'static str = "ledger";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Accounts of a contract";
}

#[derive(Deserialize, ContractEvent)]
#[contract_event(BANK, OPENED)]
struct Opened {
    #[serde(deserialize_with = "chain_int")]
    id: i64,
    owner: Address,
    name: String,
}

#[derive(Deserialize, ContractEvent)]
#[contract_event(BANK, MOVED)]
struct Moved {
    #[serde(deserialize_with = "chain_int")]
    id: i64,
    amount: String,
    memo: String,
}

impl Plugin for Ledger {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .migrations([Migration::new(1, "create", MIGRATION), Migration::new(2, "indexes", INDEXES)])
            .grants(Grants { chains: vec!["main".into()], ..Grants::default() })
            .on_contract_event(&TABLES, opened)
            .on_contract_event(&TABLES, moved)
            .on_contract_event(&TABLES, closed)
            .publishes(&["ledger.moved"])
            .contributes(Point::new("ask_chain"), super::capability::ask)
            .contributes(Point::new("ask_chain_at"), super::capability::ask_at)
            .contributes(Point::new("write_derived"), write_derived)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

/// Counts down to 0.
fn is_next(counter: &AtomicU32) -> bool {
    counter.fetch_update(SeqCst, SeqCst, |count| count.checked_sub(1)).is_ok()
}

async fn opened(_: PluginContext<Ledger>, tx: Tx, event: ChainEvent<Opened>) -> Result<(), HostError> {
    let ChainEvent { args: Opened { id, owner, name }, log, .. } = event;
    if id == TRESPASSER {
        tx.execute(sql("INSERT INTO ledger_notes (note) VALUES ('not derived')")).await?;
    }
    if id == IMPOSTOR {
        EventBuilder::new("ledger.opened", &json!({ "id": id })).subject("account", id).publish(&tx)?;
    }
    if id == CLASHING {
        let clash = "INSERT INTO ledger_moves (tx, nth, account, amount, block) VALUES ('clash', 0, 0, '0', 0)";
        tx.defer(sql(clash))?;
        tx.defer(sql(clash))?;
    }
    if id.unsigned_abs() == HANGING && is_next(&HANGS) {
        tokio::time::sleep(HANG).await;
    }
    let text = "INSERT INTO ledger_accounts (id, owner, name, balance, memo, moves, changed_s) \
         VALUES ($1, $2, $3, '0', NULL, 0, $4) \
         ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, name = excluded.name, changed_s = excluded.changed_s";
    let insert = sql(text).bind(id).bind(owner).bind(name).bind(log.time_s);
    if SLOW.contains(&id.unsigned_abs()) {
        tx.execute(insert).await?;
        tokio::time::sleep(SLOW_TIME).await;
        return Ok(());
    }
    tx.defer(insert)
}

/// Depends on the row before, so that an event that is applied twice, or not undone, shows.
async fn moved(_: PluginContext<Ledger>, tx: Tx, event: ChainEvent<Moved>) -> Result<(), HostError> {
    if is_next(&REFUSALS) {
        return Err(HostError::new(plugin_api::HostErrorCode::Invalid, "not now"));
    }
    let ChainEvent { args: Moved { id, amount, memo }, log, .. } = event;
    let account: Option<(String, i64)> =
        tx.row(sql("SELECT balance, moves FROM ledger_accounts WHERE id = $1").bind(id)).await?;
    let Some((balance, moves)) = account else { return Ok(()) };
    let (sum, _) = number(&balance).overflowing_add(number(&amount));
    let nth: i64 = tx.one(sql("SELECT count(*) FROM ledger_moves WHERE tx = $1").bind(log.tx)).await?;
    let memo = hex::decode(memo.trim_start_matches("0x")).unwrap_or_default();
    let update = sql("UPDATE ledger_accounts SET balance = $2, moves = $3, memo = $4, changed_s = $5 WHERE id = $1")
        .bind(id)
        .bind(sum.to_string())
        .bind(moves + 1)
        .bind(memo)
        .bind(log.time_s);
    let insert = sql("INSERT INTO ledger_moves (tx, nth, account, amount, block) VALUES ($1, $2, $3, $4, $5)")
        .bind(log.tx)
        .bind(nth)
        .bind(id)
        .bind(&amount)
        .bind(i64::try_from(log.block).unwrap_or_default());
    tx.batch(vec![update, insert]).await?;
    let data = json!({ "id": id, "amount": amount, "tx": log.tx, "block": log.block });
    EventBuilder::new("ledger.moved", &data).subject("account", id).publish(&tx)
}

#[derive(Deserialize, ContractEvent)]
#[contract_event("bank", "Closed(uint256 indexed id)")]
struct Closed {
    #[serde(deserialize_with = "chain_int")]
    id: i64,
}

/// The moves of a closed account go with it.
async fn closed(_: PluginContext<Ledger>, tx: Tx, event: ChainEvent<Closed>) -> Result<(), HostError> {
    tx.defer(sql("DELETE FROM ledger_moves WHERE account = $1").bind(event.args.id))?;
    tx.defer(sql("DELETE FROM ledger_accounts WHERE id = $1").bind(event.args.id))
}

/// What a handler of a request must not do.
async fn write_derived(gateway: PluginContext<Ledger>, _: serde_json::Value) -> Result<String, HostError> {
    let write = gateway.write(async |tx| tx.execute(sql("UPDATE ledger_accounts SET name = 'mine'")).await);
    let error = write.await.err();
    Ok(error.map_or_else(|| "nothing stopped it".to_owned(), |error| error.to_string()))
}

fn number(text: &str) -> alloy_primitives::U256 {
    text.parse().unwrap_or_default()
}

pub fn module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Ledger>()
}
