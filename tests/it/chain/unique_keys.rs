//! A plugin that follows the same event of two contracts: both may be in one transaction.

use plugin_api::{
    ConfigError, Definition, Grants, HostError, HostHandle, Migration, NoConfig, Plugin, Tx,
    contracts::{ChainEvent, chain_int},
    host::Identity,
    manifest::SubscriptionSpec,
    sql,
    stream::EventBuilder,
};
use plugin_testing::{ScriptedChain, ScriptedLog, TestGateway, json};
use serde::Deserialize;

/// Keys of the contracts.
const CONTRACTS: [&str; 2] = ["north", "south"];
const RUNG: &str = "Rung(uint256 indexed id)";
const TABLE: &str = "bells_rung";

struct Bells;

impl Identity for Bells {
    const NAME: &'static str = "bells";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Two bells";
}

#[derive(Deserialize)]
struct Rung {
    #[serde(deserialize_with = "chain_int")]
    id: i64,
}

impl Plugin for Bells {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        let [north, south] = CONTRACTS.map(|contract| SubscriptionSpec::new(contract, RUNG).deriving(&[TABLE]));
        let table = "CREATE TABLE bells_rung (id BIGINT NOT NULL PRIMARY KEY)";
        Definition::new()
            .migrations([Migration::new(1, "create", table)])
            .grants(Grants { chains: vec!["main".into()], ..Grants::default() })
            .publishes(&["bells.rung"])
            .on_subscription(north, |_, tx, event: ChainEvent<Rung>| rung(tx, event))
            .on_subscription(south, |_, tx, event: ChainEvent<Rung>| rung(tx, event))
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn rung(tx: Tx, event: ChainEvent<Rung>) -> Result<(), HostError> {
    let id = event.args.id;
    tx.defer(sql("INSERT INTO bells_rung (id) VALUES ($1)").bind(id))?;
    EventBuilder::new("bells.rung", &json!({ "id": id })).publish(&tx)
}

fn ring(contract: &str, id: u64) -> ScriptedLog {
    ScriptedLog::new(contract, RUNG, &[json!(id)]).in_transaction("both")
}

/// Ids of the public events, the oldest first.
async fn public(gateway: &TestGateway) -> Vec<i64> {
    gateway.events().await.iter().map(|event| event.data["id"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn the_same_event_of_two_contracts_in_one_transaction_is_public_twice() {
    let chain = ScriptedChain::start().await;
    let [north, south] = CONTRACTS;
    chain.mine(vec![ring(north, 1), ring(south, 2), ring(south, 3), ring(north, 4)]);
    chain.mine_empty(5);
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    for builder in builders {
        let builder = builder.plugin(plugin_api::host::object_module::<Bells>()).chain(&chain, &CONTRACTS);
        let gateway = builder.start().await;
        gateway.indexed(&chain).await;
        assert_eq!(public(&gateway).await, [1, 2, 3, 4]);
        gateway.gateway().plugins.operate(gateway::lifecycle::OperatorAction::Reindex, "bells", "test").await.unwrap();
        let gateway = gateway.restart().await;
        gateway.indexed(&chain).await;
        assert_eq!(public(&gateway).await, [1, 2, 3, 4], "a new index finds the same keys");
        gateway.stop().await;
    }
}
