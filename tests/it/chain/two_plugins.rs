//! Two plugins that follow one chain: what both publish becomes public in the order of the chain.

use plugin_api::{
    ConfigError, Definition, Grants, HostError, HostErrorCode, HostHandle, Migration, NoConfig, Plugin, Tx,
    abi::PluginModule_Ref,
    contracts::{ChainEvent, chain_int},
    host::Identity,
    manifest::SubscriptionSpec,
    sql,
    stream::EventBuilder,
};
use plugin_testing::{Builder, ScriptedChain, ScriptedLog, TestGateway, json};
use serde::Deserialize;
use std::{
    marker::PhantomData,
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    time::Duration,
};

/// Key of the contract.
const CLOCK: &str = "clock";
/// While it is set, the index of the ticks gets no further.
static ARE_TICKS_HELD: AtomicBool = AtomicBool::new(false);

/// What one of the two plugins follows.
trait Sound: Send + Sync + 'static {
    const PLUGIN: &'static str;
    const CONTRACT_EVENT: &'static str;
    const TABLE: &'static str;
    const TYPE: &'static str;

    fn is_held() -> bool {
        false
    }
}

enum Ticks {}

impl Sound for Ticks {
    const PLUGIN: &'static str = "ticks";
    const CONTRACT_EVENT: &'static str = "Ticked(uint256 indexed id)";
    const TABLE: &'static str = "ticks_heard";
    const TYPE: &'static str = "ticks.heard";

    fn is_held() -> bool {
        ARE_TICKS_HELD.load(SeqCst)
    }
}

enum Tocks {}

impl Sound for Tocks {
    const PLUGIN: &'static str = "tocks";
    const CONTRACT_EVENT: &'static str = "Tocked(uint256 indexed id)";
    const TABLE: &'static str = "tocks_heard";
    const TYPE: &'static str = "tocks.heard";
}

struct Listener<S>(PhantomData<S>);

impl<S: Sound> Identity for Listener<S> {
    const NAME: &'static str = S::PLUGIN;
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "One sound of a clock";
}

#[derive(Deserialize)]
struct Heard {
    #[serde(deserialize_with = "chain_int")]
    id: i64,
}

impl<S: Sound> Plugin for Listener<S> {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        let heard = SubscriptionSpec::new(CLOCK, S::CONTRACT_EVENT).deriving(&[S::TABLE]);
        let table = format!("CREATE TABLE {} (id BIGINT NOT NULL PRIMARY KEY)", S::TABLE);
        Definition::new()
            .migrations([Migration::new(1, "create", &table)])
            .grants(Grants { chains: vec!["main".into()], ..Grants::default() })
            .publishes(&[S::TYPE])
            .on_subscription(heard, |_, tx, event: ChainEvent<Heard>| hear::<S>(tx, event))
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self(PhantomData))
    }
}

async fn hear<S: Sound>(tx: Tx, event: ChainEvent<Heard>) -> Result<(), HostError> {
    if S::is_held() {
        return Err(HostError::new(HostErrorCode::Invalid, "not now"));
    }
    let id = event.args.id;
    tx.defer(sql(format!("INSERT INTO {} (id) VALUES ($1)", S::TABLE)).bind(id))?;
    EventBuilder::new(S::TYPE, &json!({ "id": id })).publish(&tx)
}

fn module<S: Sound>() -> PluginModule_Ref {
    plugin_api::host::object_module::<Listener<S>>()
}

fn tick(id: u64) -> ScriptedLog {
    ScriptedLog::new(CLOCK, Ticks::CONTRACT_EVENT, &[json!(id)])
}

fn tock(id: u64) -> ScriptedLog {
    ScriptedLog::new(CLOCK, Tocks::CONTRACT_EVENT, &[json!(id)])
}

async fn builders(chain: &ScriptedChain) -> Vec<Builder> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let with_both = |builder: Builder| builder.plugin(module::<Ticks>()).plugin(module::<Tocks>());
    builders.into_iter().map(|builder| with_both(builder).chain(chain, &[CLOCK])).collect()
}

/// Ids of the public events, the oldest first.
async fn public(gateway: &TestGateway) -> Vec<i64> {
    gateway.events().await.iter().map(|event| event.data["id"].as_i64().unwrap()).collect()
}

/// Waits until the index of the tocks has this block, that of the ticks fails, and the publisher knows both.
async fn until_ticks_stay_behind(gateway: &TestGateway, block: u64) {
    TestGateway::eventually(Duration::from_secs(60), "one index goes on without the other", || async {
        let indexes = &gateway.gateway().indexes;
        let are_apart = indexes.reports().iter().all(|report| match report.plugin.as_str() {
            "tocks" => report.indexed_block == Some(block),
            _ => report.reason.as_ref().is_some_and(|reason| reason.contains("not now")),
        });
        are_apart && indexes.are_published()
    })
    .await;
}

#[tokio::test]
async fn events_of_two_plugins_become_public_in_the_order_of_the_chain() {
    let chain = ScriptedChain::start().await;
    // For a first index; those of one block are not in the order of the plugins' names.
    chain.mine(vec![tock(1), tick(2)]);
    chain.mine(vec![tick(3)]);
    chain.mine(vec![tock(4)]);
    chain.mine_empty(100);
    for builder in builders(&chain).await {
        let gateway = builder.start().await;
        gateway.indexed(&chain).await;
        assert_eq!(public(&gateway).await, [1, 2, 3, 4]);

        ARE_TICKS_HELD.store(true, SeqCst);
        chain.mine(vec![tick(5)]);
        chain.mine(vec![tock(6)]);
        until_ticks_stay_behind(&gateway, chain.mine_empty(5)).await;
        assert_eq!(public(&gateway).await, [1, 2, 3, 4], "the tock waits for the tick before it");
        ARE_TICKS_HELD.store(false, SeqCst);
        gateway.indexed(&chain).await;
        assert_eq!(public(&gateway).await, [1, 2, 3, 4, 5, 6]);
        chain.reorg(7);
        gateway.stop().await;
    }
}
