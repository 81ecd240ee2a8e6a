//! A plugin that follows two chains, and looks for values of indexed arguments.

use plugin_api::{
    Address, ConfigError, Definition, Grants, HostError, HostHandle, Migration, NoConfig, Plugin, PluginContext, Tx,
    abi::PluginModule_Ref, contracts::ChainEvent, host::Identity, manifest::SubscriptionSpec, sql,
    stream::EventBuilder,
};
use plugin_testing::{Builder, ScriptedChain, ScriptedLog, TestGateway, Value, json};
use serde::Deserialize;
use std::time::Duration;

/// Key of the contract, on both chains.
const TOKEN: &str = "token";
const PAID: &str = "Paid(address indexed from, address indexed to, uint256 amount)";
const SIDE: &str = "side";
const MIGRATION: &str = "
CREATE TABLE tolls_main (tx TEXT NOT NULL PRIMARY KEY, payer TEXT NOT NULL, block BIGINT NOT NULL);
CREATE TABLE tolls_side (tx TEXT NOT NULL PRIMARY KEY, payer TEXT NOT NULL, block BIGINT NOT NULL);
CREATE TABLE tolls_side_all (tx TEXT NOT NULL PRIMARY KEY, payer TEXT NOT NULL, block BIGINT NOT NULL);
CREATE TABLE tolls_side_of_payer (tx TEXT NOT NULL PRIMARY KEY, payer TEXT NOT NULL, block BIGINT NOT NULL);
";
const TABLES: [&str; 4] = ["tolls_main", "tolls_side", "tolls_side_all", "tolls_side_of_payer"];

struct Tolls;

impl Identity for Tolls {
    const NAME: &'static str = "tolls";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Payments to a treasury on two chains";
}

#[derive(Deserialize)]
struct Paid {
    from: Address,
}

impl Plugin for Tolls {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        let paid = || SubscriptionSpec::new(TOKEN, PAID);
        let on_main = paid().any_contract_of("to", &["treasury"]).deriving(&["tolls_main"]);
        let of_payer = paid().on_chain(SIDE).any_of("from", &[payer(1), payer(2)]);
        Definition::new()
            .migrations([Migration::new(1, "create", MIGRATION)])
            .grants(Grants { chains: vec!["main".into(), SIDE.into()], ..Grants::default() })
            .publishes(&["tolls.paid"])
            .on_subscription(on_main, |_, tx, event: ChainEvent<Paid>| async move {
                store(&tx, "tolls_main", &event).await?;
                publish(&tx, &event)
            })
            .on_subscription(paid_to_treasury(), |_, tx, event: ChainEvent<Paid>| async move {
                store(&tx, "tolls_side", &event).await?;
                publish(&tx, &event)
            })
            .on_subscription(paid().on_chain(SIDE).deriving(&["tolls_side_all"]), store_all)
            .on_subscription(of_payer.deriving(&["tolls_side_of_payer"]), |_, tx, event: ChainEvent<Paid>| async move {
                store(&tx, "tolls_side_of_payer", &event).await
            })
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

fn paid_to_treasury() -> SubscriptionSpec {
    SubscriptionSpec::new(TOKEN, PAID).on_chain(SIDE).any_contract_of("to", &["treasury"]).deriving(&["tolls_side"])
}

async fn store_all(_: PluginContext<Tolls>, tx: Tx, event: ChainEvent<Paid>) -> Result<(), HostError> {
    store(&tx, "tolls_side_all", &event).await
}

async fn store(tx: &Tx, table: &str, event: &ChainEvent<Paid>) -> Result<(), HostError> {
    let statement = sql(format!("INSERT INTO {table} (tx, payer, block) VALUES ($1, $2, $3)"));
    let block = i64::try_from(event.log.block).unwrap_or_default();
    tx.execute(statement.bind(event.log.tx).bind(event.args.from).bind(block)).await.map(drop)
}

fn publish(tx: &Tx, event: &ChainEvent<Paid>) -> Result<(), HostError> {
    let data = json!({ "chain": event.chain, "payer": event.args.from, "block": event.log.block });
    EventBuilder::new("tolls.paid", &data).publish(tx)
}

fn module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Tolls>()
}

fn payer(number: u64) -> String {
    format!("0x{number:040x}")
}

fn paid(from: u64, to: &str) -> ScriptedLog {
    ScriptedLog::new(TOKEN, PAID, &[json!(payer(from)), json!(ScriptedChain::address_of(to)), json!(5)])
}

async fn builders(main: &ScriptedChain, side: &ScriptedChain) -> Vec<Builder> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let contracts = [TOKEN, "treasury"];
    let with_chains = |builder: Builder| {
        builder.plugin(module()).chain(main, &contracts).chain_named(SIDE, side, &contracts).configure(|config| {
            // So that both chains differ in when an event is public.
            config.chains.get_mut(SIDE).unwrap().confirmations = 1;
        })
    };
    builders.into_iter().map(with_chains).collect()
}

async fn both_indexed(gateway: &TestGateway, main: &ScriptedChain, side: &ScriptedChain) {
    gateway.indexed(main).await;
    gateway.indexed_on(SIDE, side).await;
}

/// The payers of a table in the order of their blocks.
async fn payers(gateway: &TestGateway, table: &str) -> Vec<u64> {
    let rows = gateway.rows(&format!("SELECT payer FROM {table} ORDER BY block, payer")).await;
    let number = |row: &String| u64::from(row.chars().rfind(char::is_ascii_digit).unwrap().to_digit(10).unwrap());
    rows.iter().map(number).collect()
}

/// Everything that is derived, in one text.
async fn derived(gateway: &TestGateway) -> String {
    let mut all = Vec::new();
    for table in TABLES {
        all.push(table.to_owned());
        all.extend(gateway.rows(&format!("SELECT tx, payer, block FROM {table} ORDER BY tx")).await);
    }
    all.join("\n")
}

/// Chain and payer of each public event that was not retracted.
async fn public(gateway: &TestGateway) -> Vec<(String, u64)> {
    let events = gateway.events().await;
    let is_paid = |kind: &str| kind == "tolls.paid";
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let payer = |value: &Value| u64::from_str_radix(text(value).trim_start_matches("0x"), 16).unwrap();
    let paid = events.iter().filter(|event| is_paid(&event.kind));
    paid.map(|event| (text(&event.data["chain"]), payer(&event.data["payer"]))).collect()
}

async fn indexer(gateway: &TestGateway) -> Value {
    gateway.get("/api/status").await.json()["services"]["indexer"].clone()
}

async fn close(gateway: TestGateway) {
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
}

async fn chains() -> (ScriptedChain, ScriptedChain) {
    let (main, side) = (ScriptedChain::start().await, ScriptedChain::with_id(56).await);
    (main, side)
}

#[tokio::test]
async fn each_chain_has_an_index_of_its_own() {
    let (main, side) = chains().await;
    // Enough blocks for both ways of reading: ranges that are final, and the blocks before the head.
    main.mine(vec![paid(1, "treasury")]);
    side.mine(vec![paid(2, "treasury")]);
    main.mine_empty(100);
    side.mine_empty(150);
    for builder in builders(&main, &side).await {
        let gateway = builder.start().await;
        both_indexed(&gateway, &main, &side).await;
        assert_eq!(payers(&gateway, "tolls_main").await, [1]);
        assert_eq!(payers(&gateway, "tolls_side").await, [2]);
        let main_block = main.mine(vec![paid(3, "treasury")]);
        let side_block = side.mine(vec![paid(4, "treasury")]);
        both_indexed(&gateway, &main, &side).await;
        assert_eq!(payers(&gateway, "tolls_main").await, [1, 3]);
        assert_eq!(payers(&gateway, "tolls_side").await, [2, 4]);
        let reports = gateway.gateway().indexes.reports();
        let at: Vec<_> = reports.iter().map(|report| (report.chain.as_str(), report.indexed_block)).collect();
        assert_eq!(at, [("main", Some(main_block)), (SIDE, Some(side_block))]);
        assert_eq!(gateway.gateway().indexes.indexed_block(), Some(main_block), "that of the main chain");
        assert_eq!(indexer(&gateway).await["indexes"][1]["chain"], SIDE);
        main.reorg(1);
        side.reorg(1);
        close(gateway).await;
    }
}

#[tokio::test]
async fn an_event_comes_once_to_each_handler_that_looks_for_its_values() {
    let (main, side) = chains().await;
    let all = |first: u64| {
        let to_others = [paid(first, "another"), paid(first + 1, "another"), paid(first + 2, "another")];
        [to_others.to_vec(), vec![paid(first, "treasury"), paid(first + 2, "treasury")]].concat()
    };
    main.mine(all(1));
    side.mine(all(1));
    side.mine_empty(150);
    for builder in builders(&main, &side).await {
        let gateway = builder.start().await;
        both_indexed(&gateway, &main, &side).await;
        let expected = |again: bool| {
            let block = |payers: &[u64]| if again { [payers, payers].concat() } else { payers.to_vec() };
            [block(&[1, 3]), block(&[1, 3]), block(&[1, 1, 2, 3, 3]), block(&[1, 1, 2])]
        };
        for (table, payers_of) in TABLES.into_iter().zip(expected(false)) {
            assert_eq!(payers(&gateway, table).await, payers_of, "{table}, of final blocks");
        }
        main.mine(all(1));
        side.mine(all(1));
        both_indexed(&gateway, &main, &side).await;
        for (table, payers_of) in TABLES.into_iter().zip(expected(true)) {
            assert_eq!(payers(&gateway, table).await, payers_of, "{table}, at the head");
        }
        main.reorg(1);
        side.reorg(1);
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_reorganisation_undoes_and_retracts_what_its_chain_said() {
    let (main, side) = chains().await;
    for builder in builders(&main, &side).await {
        let gateway = builder.start().await;
        main.mine(vec![paid(1, "treasury")]);
        side.mine(vec![paid(2, "treasury")]);
        both_indexed(&gateway, &main, &side).await;
        assert_eq!(public(&gateway).await, [], "no block is deep enough");
        main.mine_empty(1);
        side.mine_empty(1);
        both_indexed(&gateway, &main, &side).await;
        assert_eq!(public(&gateway).await, [(SIDE.to_owned(), 2)], "each chain has its own confirmations");
        let before = gateway.events().await;
        side.reorg(2);
        side.mine(vec![paid(3, "treasury")]);
        side.mine_empty(2);
        both_indexed(&gateway, &main, &side).await;
        assert_eq!((payers(&gateway, "tolls_main").await, payers(&gateway, "tolls_side").await), (vec![1], vec![3]));
        assert_eq!(public(&gateway).await, [(SIDE.to_owned(), 3)]);
        let retractions = gateway.events().await.into_iter().filter(|event| event.kind == "chain.retracted");
        let retracted: Vec<Vec<i64>> = retractions.map(|event| super::activity::retracted(&event)).collect();
        assert_eq!(retracted, [[before[0].id]], "the one of the branch that is gone");
        main.mine_empty(2);
        both_indexed(&gateway, &main, &side).await;
        assert_eq!(public(&gateway).await.last(), Some(&("main".to_owned(), 1)), "the other chain goes its way");
        let incremental = derived(&gateway).await;
        gateway.gateway().plugins.operate(gateway::lifecycle::OperatorAction::Reindex, "tolls", "test").await.unwrap();
        let gateway = gateway.restart().await;
        both_indexed(&gateway, &main, &side).await;
        assert_eq!(derived(&gateway).await, incremental, "both indexes began anew");
        assert_eq!(public(&gateway).await.len(), 2, "nothing is public twice");
        main.reorg(4);
        side.reorg(3);
        close(gateway).await;
    }
}

#[tokio::test]
async fn a_chain_that_is_away_holds_back_its_own_events_only() {
    let (main, side) = chains().await;
    for builder in builders(&main, &side).await {
        let gateway = builder.start().await;
        both_indexed(&gateway, &main, &side).await;
        side.fail_always(Some(plugin_testing::Fault::Status(503)));
        main.mine(vec![paid(1, "treasury")]);
        side.mine(vec![paid(2, "treasury")]);
        main.mine_empty(3);
        TestGateway::eventually(Duration::from_secs(60), "the main chain's event is public", || async {
            public(&gateway).await == [("main".to_owned(), 1)]
        })
        .await;
        TestGateway::eventually(Duration::from_secs(60), "status names the chain", || async {
            let indexer = indexer(&gateway).await;
            indexer["ok"] == false && indexer["detail"].as_str().is_some_and(|text| text.contains("tolls on side"))
        })
        .await;
        side.fail_always(None);
        side.mine_empty(1);
        both_indexed(&gateway, &main, &side).await;
        assert_eq!(payers(&gateway, "tolls_side").await, [2]);
        assert_eq!(indexer(&gateway).await["ok"], true);
        main.reorg(4);
        side.reorg(2);
        close(gateway).await;
    }
}

#[tokio::test]
async fn without_the_chain_or_the_contract_it_looks_for_an_index_is_off() {
    let (main, side) = chains().await;
    main.mine(vec![paid(1, "treasury")]);
    for builder in builders(&main, &side).await {
        let gateway = builder
            .configure(|config| {
                config.chains.remove(SIDE);
                config.chains.get_mut("main").unwrap().contracts.remove("treasury");
            })
            .start()
            .await;
        TestGateway::eventually(Duration::from_secs(60), "both say why they are off", || async {
            let reasons =
                gateway.gateway().indexes.reports().into_iter().map(|report| report.reason.unwrap_or_default());
            reasons.collect::<Vec<_>>()
                == [
                    "none of its contracts is deployed",
                    "the chain side is not configured: add a section [chains.side]",
                ]
        })
        .await;
        close(gateway).await;
    }
}
