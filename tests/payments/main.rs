//! A gateway without listeners that makes payments: the process that `tests/it/tx/kills.rs` kills.
//!
//! `payments-under-test DATA_DIR DATABASE_URL RPC_URL LAST` records payments up to the number LAST, a row and an intent in one
//! transaction each, and ends when all are final or cancelled; then it prints the numbers of those that were cancelled, a line
//! each. Payments that earlier runs recorded are not recorded again.

use anyhow::{Context as _, Result, ensure};
use gateway_clock::Clock;
use gateway_config::{ChainConfig, Config, LogConfig, SignerConfig};
use gateway_plugins::LoadedPlugin;
use plugin_api::{
    ConfigError, Definition, Grants, HostError, HostHandle, Migration, NoConfig, Plugin, PluginContext, Query as _, Tx,
    Wei,
    abi::PluginModule_Ref,
    chain::{TransactionRequest, TxState},
    host::Identity,
    point::Point,
    sql,
};
use std::{net::Ipv4Addr, time::Duration};

#[path = "../it/tx/payee.rs"]
mod payee;

const MIGRATION: &str = "CREATE TABLE payments_made (number BIGINT NOT NULL PRIMARY KEY, intent BIGINT NOT NULL);";
/// Not secret: only tests use it.
const KEY: &str = "0x4242424242424242424242424242424242424242424242420000000000000777";
const PAUSE: Duration = Duration::from_millis(10);

struct Payments;

impl Identity for Payments {
    const NAME: &'static str = "payments";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Pays numbered amounts to numbered accounts";
}

impl Plugin for Payments {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .migrations([Migration::new(1, "create", MIGRATION)])
            .grants(Grants { chains: vec!["main".into()], signer_roles: vec!["relayer".into()], ..Grants::default() })
            .contributes(Point::new("pay_up_to"), pay_up_to)
            .contributes(Point::new("outcome"), outcome)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

/// One row and one intent, committed together. Answers whether there was one more to record.
async fn pay_up_to(gateway: PluginContext<Payments>, last: i64) -> Result<bool, HostError> {
    gateway.write(async move |tx| record_next(tx, last).await).await
}

async fn record_next(tx: &Tx, last: i64) -> Result<bool, HostError> {
    let made: i64 = tx.one(sql("SELECT count(*) FROM payments_made")).await?;
    if made >= last {
        return Ok(false);
    }
    let (number, key) = (made + 1, format!("payment {}", made + 1));
    let send = TransactionRequest::new("relayer", key, payee::account(number)).value(Wei(payee::amount(number)));
    let intent = send.record(tx).await?;
    tx.execute(sql("INSERT INTO payments_made (number, intent) VALUES ($1, $2)").bind(number).bind(intent)).await?;
    Ok(true)
}

/// Whether that payment was made, once that is final. It may have failed for one reason only.
async fn outcome(gateway: PluginContext<Payments>, number: i64) -> Result<Option<bool>, HostError> {
    let made = sql("SELECT intent FROM payments_made WHERE number = $1").bind(number);
    let status = gateway.intent_status(gateway.db().one(made).await?).await?;
    match status {
        Some(status) if status.state == TxState::Failed => {
            if status.reason.as_ref().is_some_and(|reason| reason.contains(payee::REFUSED)) {
                return Ok(Some(false));
            }
            Err(HostError::new(plugin_api::HostErrorCode::Internal, format!("payment {number}: {status:?}")))
        }
        status => Ok(status.is_some_and(|status| status.state == TxState::Final).then_some(true)),
    }
}

fn module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Payments>()
}

fn configuration(data_dir: &str, database: &str, rpc: &str) -> Config {
    let mut config = Config::default();
    config.data_dir = data_dir.into();
    config.database.url = (!database.is_empty()).then(|| database.into());
    let main = ChainConfig {
        rpc: vec![rpc.into()],
        poll_ms: 20,
        timeout_ms: 3000,
        confirmations: 2,
        reorg_depth: payee::DEPTH,
        ..ChainConfig::default()
    };
    config.chains.insert("main".to_owned(), main);
    config.signers.insert("relayer".to_owned(), SignerConfig::with_key(KEY));
    (config.tx.resend_ms, config.tx.replace_ms) = (200, 600);
    config
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data_dir, database, rpc, last] = arguments.as_slice() else { anyhow::bail!("four arguments are expected") };
    let last: i64 = last.parse()?;
    gateway_telemetry::start_logging(&LogConfig::default());
    let loaded = LoadedPlugin::linked(module()).context("the plugin")?;
    let bound = (Ipv4Addr::LOCALHOST, 8080).into();
    let started =
        gateway::Gateway::start(configuration(data_dir, database, rpc), Clock::System, bound, vec![Ok(loaded)]).await?;
    while ask(&started, "pay_up_to", last).await? == true {
        tokio::time::sleep(PAUSE).await;
    }
    for number in 1..=last {
        let is_made = loop {
            match ask(&started, "outcome", number).await?.as_bool() {
                Some(is_made) => break is_made,
                None => tokio::time::sleep(PAUSE).await,
            }
        };
        if !is_made {
            println!("{number}");
        }
    }
    started.stop().await;
    Ok(())
}

async fn ask(started: &gateway::Gateway, point: &str, input: i64) -> Result<serde_json::Value> {
    let mut answers = started.extension_points.collect(point, input.to_string()).await;
    let answer = answers.pop().with_context(|| format!("no answer: {:?}", started.plugins.reports()))?;
    ensure!(answers.is_empty(), "one plugin answers");
    serde_json::from_str(answer.value.get()).context("the answer has another shape")
}
