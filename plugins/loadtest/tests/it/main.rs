//! The load test in a gateway, on each database, with a scripted chain: one file per operation and subject.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod changed_config;
mod control_loadtest;
mod get_loadtest_address;
mod get_loadtest_disclosure;
mod get_loadtest_manifest;
mod get_loadtest_stats;
mod leftovers;
mod membership;
mod payer;
mod runner;

use plugin_testing::{Builder, ScriptedChain, ScriptedTx, TestGateway, TestResponse, Value, Wallet, json};
use std::time::Duration;

/// Of the seed of 32 bytes 0x77; computed with @scure/bip32 and viem, as are the addresses.
const XPUB: &str =
    "xpub6Dom4bNvHgeKTBr1kNeTbfKWLVT6aKFmwj419xXdbnNyFUrXuv5gi14gFfX7wBS2NBga96qAwtFwx2hiNqhaQQRoSXyAX32ww4KnaD6cZpz";
const FLOAT: &str = "0xC75F02c48cB7f7f0220dee74E7F212906Acc68A3";
const WALLET_1: &str = "0x12935FDB277Ce7EE831Dba34454D52D606358796";
const WALLET_2: &str = "0x29d4efD05Bc84C59844DE1F70aFCEF6DED61Dec8";
const SINK: &str = "0x00000000000000000000000000000000000000AA";
/// Who is paid by another plugin.
const PAYEE: &str = "0x00000000000000000000000000000000000000bb";
/// 32 bytes: the seed of [`XPUB`].
const SEED: &str = "7777777777777777777777777777777777777777777777777777777777777777";
/// 10 FMX.
const DEPOSIT: u128 = 10_000_000_000_000_000_000;
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
/// Blocks after which an inclusion is final.
const DEPTH: u64 = 4;

fn prepared(builder: Builder, chain: &ScriptedChain, config: &Value) -> Builder {
    let builder = builder.plugin(loadtest::plugin_module()).config("loadtest", config.clone());
    builder.chain(chain, &[]).configure(|config| {
        let main = config.chains.get_mut("main").unwrap();
        (main.confirmations, main.reorg_depth) = (2, DEPTH);
    })
}

/// A chain and a gateway on each database, one after the other.
async fn each(config: Value, test: impl AsyncFn(&ScriptedChain, TestGateway) -> TestGateway) {
    each_built(config, |builder| builder, test).await;
}

async fn each_built(
    config: Value,
    adjust: impl Fn(Builder) -> Builder,
    test: impl AsyncFn(&ScriptedChain, TestGateway) -> TestGateway,
) {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    for builder in builders {
        let chain = ScriptedChain::start().await;
        let gateway = adjust(prepared(builder, &chain, &config)).start().await;
        let gateway = Box::pin(test(&chain, gateway)).await;
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}

async fn read(gateway: &TestGateway, path: &str) -> Value {
    let response = gateway.get(path).await;
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    response.json()
}

async fn stats(gateway: &TestGateway) -> Value {
    read(gateway, "/api/loadtest/stats").await
}

/// Lets time pass until this holds.
async fn eventually(gateway: &TestGateway, what: &str, holds: impl AsyncFn() -> bool) {
    TestGateway::eventually(MINUTE, what, async || {
        gateway.clock().advance(SECOND).await;
        holds().await
    })
    .await;
}

async fn derived(gateway: &TestGateway, wallets: u32) {
    eventually(gateway, "the wallets are derived", async || {
        stats(gateway).await["membership"] == json!({ "loaded": wallets, "problem": null })
    })
    .await;
}

/// A plain transfer as another program sends it.
fn send(chain: &ScriptedChain, from: &str, nonce: u64, to: &str, wei: u64) {
    let transfer = ScriptedTx::foreign(from.parse().unwrap(), nonce);
    chain.push_pending(ScriptedTx { to: to.parse().unwrap(), value: wei.into(), ..transfer });
}

fn operator() -> Wallet {
    Wallet::new(70)
}

fn config(more: Value) -> Value {
    let mut config = json!({
        "xpub": XPUB, "wallets": 6, "sink": SINK, "runner": true, "operators": [operator().address()], "rate_per_s": 50,
        "wave_wallets": 3, "waves_max": 2, "transfers": 2, "head_age_max_s": 86_400
    });
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    config
}

fn with_seed(builder: Builder) -> Builder {
    builder.seed("loadtest", SEED)
}

/// A chain on which the float has [`DEPOSIT`].
fn fund(chain: &ScriptedChain) {
    chain.keep_accounts();
    chain.set_balance(FLOAT.parse().unwrap(), &DEPOSIT.to_string());
    chain.set_estimate(WALLET_1.parse().unwrap(), 21_080);
    chain.mine_empty(1);
}

async fn control(gateway: &TestGateway, command: &str) -> TestResponse {
    gateway.clock().advance(2 * SECOND).await;
    gateway.post_signed("/api/loadtest/runner", &operator(), "loadtest.control", json!({ "do": command })).await
}

async fn start(gateway: &TestGateway) {
    let started = control(gateway, "start").await;
    assert_eq!((started.status, &started.json()["mode"]), (200, &json!("running")), "{}", started.text());
}
