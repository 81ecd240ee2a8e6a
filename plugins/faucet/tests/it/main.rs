//! The faucet in a gateway, on each database, with a scripted chain: one file per operation and subject.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod at_once;
mod get_faucet;
mod outcomes;
mod request_drip;

use plugin_testing::{Builder, ScriptedChain, TestGateway, TestResponse, Value, Wallet, json};
use std::time::Duration;

/// Number of the wallet with the key of the role relayer.
const RELAYER: u64 = 900;
const MINUTE: Duration = Duration::from_secs(60);
const DRIP: &str = "500000000000000000";
/// Blocks after which an inclusion is final.
const DEPTH: u64 = 4;
/// Of gateways on one database.
const SECRETS_KEY: &str = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";

/// A chain whose relayer has 1,000 FMX.
async fn chain() -> ScriptedChain {
    let chain = ScriptedChain::start().await;
    chain.set_balance(Wallet::new(RELAYER).address().parse().unwrap(), "1000000000000000000000");
    chain
}

fn prepared(builder: Builder, chain: &ScriptedChain, config: &Value) -> Builder {
    let builder = builder.plugin(faucet::plugin_module()).config("faucet", config.clone());
    builder.chain(chain, &[]).signer("relayer", RELAYER).configure(|config| {
        config.tx.in_flight_max = 64;
        config.secrets.key = Some(SECRETS_KEY.to_owned().into());
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
        let chain = chain().await;
        let gateway = adjust(prepared(builder, &chain, &config)).start().await;
        knows_head(&gateway).await;
        let gateway = test(&chain, gateway).await;
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}

/// A fresh address.
fn address(number: u64) -> String {
    Wallet::new(1000 + number).address().to_owned()
}

/// Asks for a drip, while time passes.
async fn post(gateway: &TestGateway, body: &Value) -> TestResponse {
    let headers = [("content-type", "application/json")];
    let request = gateway.send("POST", "/api/faucet", &headers, body.to_string());
    passing(gateway, request).await
}

/// Lets time pass until this is done.
async fn passing<T>(gateway: &TestGateway, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = tokio::time::sleep(Duration::from_millis(5)) => gateway.clock().advance(Duration::from_millis(10)).await,
        }
    }
}

async fn drip(gateway: &TestGateway, number: u64) -> Value {
    let response = post(gateway, &json!({ "address": address(number) })).await;
    assert_eq!(response.status, 202, "{}", response.text());
    response.json()
}

/// Waits until the gateway knows the chain's newest block, if it has a chain: contracts are called at that.
async fn knows_head(gateway: &TestGateway) {
    let has_chain = !gateway.gateway().config.chains.is_empty();
    eventually(gateway, "the head is known", async || {
        !has_chain || gateway.get("/api/health").await.json()["head"] != json!(-1)
    })
    .await;
}

#[track_caller]
fn assert_refused(response: &TestResponse, status: u16, code: &str) {
    assert_eq!((response.status, &response.json()["code"]), (status, &json!(code)), "{}", response.text());
}

async fn faucet(gateway: &TestGateway) -> Value {
    let response = gateway.get("/api/faucet").await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()
}

async fn used(gateway: &TestGateway) -> i64 {
    faucet(gateway).await["usedToday"].as_i64().unwrap()
}

/// Lets time pass until this holds.
async fn eventually(gateway: &TestGateway, what: &str, holds: impl AsyncFn() -> bool) {
    TestGateway::eventually(MINUTE, what, async || {
        gateway.clock().advance(Duration::from_secs(1)).await;
        holds().await
    })
    .await;
}

async fn states(gateway: &TestGateway) -> Vec<String> {
    gateway.rows("SELECT state FROM faucet_drips ORDER BY id").await
}
