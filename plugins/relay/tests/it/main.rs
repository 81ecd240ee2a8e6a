//! The relay in a gateway, on each database, with a scripted chain: one file per operation and subject.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod at_once;
mod create_account;
mod draft;
mod get_relay;
mod limits;
mod outcomes;
mod relay_call;

use draft::Draft;
use plugin_api::Address;
use plugin_testing::{Builder, ScriptedChain, TestGateway, TestResponse, Value, Wallet, json};
use std::time::Duration;

/// Number of the wallet with the key of the role relayer.
const RELAYER: u64 = 900;
const MINUTE: Duration = Duration::from_secs(60);
const CONTRACTS: [&str; 4] = ["registry", "escrow", "accountFactory", "accountImpl"];
/// Blocks after which an inclusion is final.
const DEPTH: u64 = 4;
/// Of gateways on one database.
const SECRETS_KEY: &str = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";

fn relayer() -> Address {
    Wallet::new(RELAYER).address().parse().unwrap()
}

/// An account that exists.
fn account(number: u8) -> Address {
    Address([number; 20])
}

/// A chain whose relayer has 1,000 FMX, with accounts 1 to 3.
async fn chain() -> ScriptedChain {
    let chain = ScriptedChain::start().await;
    chain.set_balance(relayer(), "1000000000000000000000");
    set_is_account(&chain, true);
    for number in 1..=3 {
        set_nonce(&chain, number, 0);
    }
    set_predicted(&chain, account(50));
    chain
}

fn set_is_account(chain: &ScriptedChain, is_account: bool) {
    let factory = ScriptedChain::address_of("accountFactory");
    chain.mock_call(factory, "isAccount(address) returns (bool)", &[json!(is_account)]);
}

fn set_predicted(chain: &ScriptedChain, account: Address) {
    let factory = ScriptedChain::address_of("accountFactory");
    chain.mock_call(factory, "predict(address,bytes32) returns (address)", &[json!(account)]);
}

/// Also gives the account its code.
fn set_nonce(chain: &ScriptedChain, number: u8, nonce: u64) {
    chain.mock_call(account(number), "nonce() returns (uint256)", &[json!(nonce.to_string())]);
}

fn prepared(builder: Builder, chain: &ScriptedChain, config: &Value) -> Builder {
    let builder = builder.plugin(relay::plugin_module()).config("relay", config.clone());
    builder.chain(chain, &CONTRACTS).signer("relayer", RELAYER).configure(|config| {
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

/// Without letting time pass.
async fn send(gateway: &TestGateway, path: &str, body: &Value) -> TestResponse {
    gateway.send("POST", path, &[("content-type", "application/json")], body.to_string()).await
}

async fn post(gateway: &TestGateway, path: &str, body: &Value) -> TestResponse {
    passing(gateway, send(gateway, path, body)).await
}

async fn relay(gateway: &TestGateway, draft: &Draft) -> TestResponse {
    post(gateway, "/api/relay", &draft.body()).await
}

async fn relayed(gateway: &TestGateway, draft: &Draft) -> Value {
    let response = relay(gateway, draft).await;
    assert_eq!(response.status, 202, "{}", response.text());
    response.json()
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

/// Lets time pass until this holds.
async fn eventually(gateway: &TestGateway, what: &str, holds: impl AsyncFn() -> bool) {
    TestGateway::eventually(MINUTE, what, async || {
        gateway.clock().advance(Duration::from_secs(1)).await;
        holds().await
    })
    .await;
}

/// What is counted for this key, the network's by default.
async fn counted(gateway: &TestGateway, name: &str) -> Vec<String> {
    gateway.rows(&format!("SELECT used FROM relay_counters WHERE name = '{name}' AND used > 0 ORDER BY used")).await
}
