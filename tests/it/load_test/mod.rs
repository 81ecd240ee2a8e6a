//! The load test's runner through SIGKILL at random times and reorganisations: what was put in comes back, to the wei.

mod crowd;

use crate::{
    crash::{Dice, execute},
    e2e::{Site, setup_with_all_plugins_on},
    storage::Engine,
};
use gateway_tests::{
    load_test_wallets::{FLOAT, SEED, WALLET_1, XPUB},
    process::GatewayProcess,
};
use plugin_testing::{ScriptedChain, TestGateway, Value, Wallet, json};
use std::time::Duration;

const KILLS: u64 = 3;
const LIMIT: Duration = Duration::from_secs(120);
const WALLETS: u64 = 20;
/// 10 FMX.
const DEPOSIT: u128 = 10_000_000_000_000_000_000;
const REORG_DEPTH: u64 = 6;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_few_kills_lose_no_coin() {
    let dice = Dice::new();
    // Each waits for its chain most of the time.
    tokio::join!(run(Engine::Sqlite, dice.fork(0)), run(Engine::Postgres, dice.fork(1)));
}

async fn run(engine: Engine, mut dice: Dice) {
    let (operator, chain) = (Wallet::new(70), ScriptedChain::start().await);
    chain.keep_accounts();
    chain.set_balance(FLOAT.parse().unwrap(), &DEPOSIT.to_string());
    chain.set_estimate(WALLET_1.parse().unwrap(), 21_080);
    chain.mine_empty(1);
    let setup =
        setup_with_all_plugins_on(engine).await.unset("plugins.hello.enabled").unset("plugins.kb.network_pages");
    let setup = setup
        .with_only(&["loadtest"])
        .unwrap()
        .set("chain_id", chain.id())
        .set("chains.main.rpc", chain.url())
        .set("chains.main.chain_id", chain.id())
        .set("chains.main.poll_ms", 50)
        .set("chains.main.reorg_depth", REORG_DEPTH)
        .set("chains.main.confirmations", 2)
        .set("signers.loadtest.key", SEED)
        .set("plugins.loadtest.xpub", XPUB)
        .set("plugins.loadtest.wallets", WALLETS)
        .set("plugins.loadtest.runner", true)
        .set("plugins.loadtest.operators", format!("[\"{}\"]", operator.address()))
        .set("plugins.loadtest.rate_per_s", 200)
        .set("plugins.loadtest.wave_wallets", 5)
        // The blocks of the scripted chain are of another time.
        .set("plugins.loadtest.head_age_max_s", 1_000_000_000);
    let mut gateway = setup.start().await.unwrap();
    mine_until(&chain, &gateway, "the wallets are derived", |stats| stats["membership"]["loaded"] == WALLETS).await;
    control(&gateway, &operator, "start").await;
    let mut highest = 0;
    for _ in 0..KILLS {
        let before = chain.mined().len();
        mine_until(&chain, &gateway, "transactions are mined", |_| chain.mined().len() > before + 5).await;
        // A random moment is what is tested.
        tokio::time::sleep(Duration::from_millis(dice.below(1500))).await;
        gateway.kill().await.unwrap();
        // On PostgreSQL another gateway takes over a job after 10 s, which other tests wait for.
        execute(&setup, "UPDATE host_job_runs SET lease_holder = NULL, lease_until_ms = NULL".to_owned()).await;
        // While nobody mines, and nothing that was final: the transactions of these blocks wait again.
        highest = highest.max(chain.head());
        chain.reorg(dice.below(chain.head() + REORG_DEPTH - highest));
        chain.mine_empty(dice.below(3));
        gateway = setup.start().await.unwrap();
    }
    control(&gateway, &operator, "drain").await;
    mine_until(&chain, &gateway, "it is drained", |stats| stats["drained"] == true).await;
    assert_balanced(&chain, &gateway).await;
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
}

/// Mines a block now and then, until this holds.
async fn mine_until(chain: &ScriptedChain, gateway: &GatewayProcess, what: &str, holds: impl Fn(&Value) -> bool) {
    TestGateway::eventually(LIMIT, what, async || {
        chain.mine_empty(1);
        tokio::time::sleep(Duration::from_millis(200)).await;
        holds(&stats(gateway).await)
    })
    .await;
}

async fn stats(gateway: &GatewayProcess) -> Value {
    Site::of(gateway).get("/api/loadtest/stats").await.json()
}

async fn control(gateway: &GatewayProcess, operator: &Wallet, command: &str) {
    let command = json!({ "do": command });
    let answer = Site::of(gateway).write("/api/loadtest/runner", operator, "loadtest.control", command).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// Nothing is left in a wallet, and the float's coins and the fees are what was put in. What the counters tell is what the chain has.
async fn assert_balanced(chain: &ScriptedChain, gateway: &GatewayProcess) {
    let mined = chain.mined();
    let gas: u128 = mined.iter().map(|tx| u128::from(tx.gas) * tx.max_fee).sum();
    let balance = |address| chain.balance(address).to_string().parse::<u128>().unwrap();
    assert_eq!(balance(FLOAT.parse().unwrap()) + gas, DEPOSIT);
    let float = FLOAT.parse().unwrap();
    let left: u128 = mined.iter().map(|tx| tx.to).filter(|to| *to != float).map(balance).sum();
    assert_eq!(left, 0, "no wallet has anything");
    let stats = stats(gateway).await;
    assert_eq!(stats["counters"]["gasWei"], json!(gas.to_string()), "{stats}");
    assert_eq!(stats["counters"]["transactions"], json!(mined.len()), "{stats}");
    let kinds = &stats["counters"]["byKind"];
    assert!(kinds["transfer"].as_u64() > Some(0) && kinds["fund"] == kinds["sweep"], "{stats}");
}
