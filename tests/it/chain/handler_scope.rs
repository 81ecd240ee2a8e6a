//! A handler of chain events reaches nothing but its transaction, because it may run again.

use plugin_api::{
    ConfigError, Definition, Grants, HostError, HostErrorCode, HostHandle, Migration, NoConfig, Plugin, PluginContext,
    Tx,
    contracts::{ChainEvent, chain_int},
    host::Identity,
    sql,
};
use plugin_testing::{ScriptedChain, ScriptedLog, TestGateway, json};
use serde::Deserialize;

const CONTRACT: &str = "bell";
const RUNG: &str = "Rung(uint256 indexed id)";

struct Bell;

impl Identity for Bell {
    const NAME: &'static str = "bell";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "A bell";
}

#[derive(Deserialize)]
struct Rung {
    #[serde(deserialize_with = "chain_int")]
    id: i64,
}

impl Plugin for Bell {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        let table = "CREATE TABLE bell_rung (id BIGINT NOT NULL PRIMARY KEY, refused TEXT NOT NULL)";
        Definition::new()
            .migrations([Migration::new(1, "create", table)])
            .grants(Grants { chains: vec!["main".into()], ..Grants::default() })
            .on_chain_event(CONTRACT, RUNG, &["bell_rung"], rung)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

/// Notes what came of a capability that a handler has no use for.
async fn rung(cx: PluginContext<Bell>, tx: Tx, event: ChainEvent<Rung>) -> Result<(), HostError> {
    let error = cx.serves(["/api/health"]).await.err();
    let refused = error.filter(|error| error.is(HostErrorCode::Refused)).map(|error| error.message.into_string());
    let insert = sql("INSERT INTO bell_rung (id, refused) VALUES ($1, $2)");
    tx.defer(insert.bind((event.args.id, refused.unwrap_or_default())))
}

#[tokio::test]
async fn a_handler_reaches_nothing_but_its_transaction() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![ScriptedLog::new(CONTRACT, RUNG, &[json!(1)])]);
    let builder = TestGateway::builder().plugin(plugin_api::host::object_module::<Bell>());
    let gateway = builder.chain(&chain, &[CONTRACT]).start().await;
    gateway.indexed(&chain).await;
    let refused = gateway.rows("SELECT refused FROM bell_rung").await;
    assert!(matches!(&*refused, [text] if text.contains("routes within a write")), "{refused:?}");
    gateway.stop().await;
}
