//! The journal of transactions and the keys, on both databases, against a scripted chain.

mod cancel;
mod gaps;
mod killing_proxy;
mod kills;
mod lifecycle;
mod listing;
mod payee;
mod payer;
mod record;
mod refusals;
mod replicas;
mod servers;
mod signing;
mod steps;
mod stuck;
mod transaction_route;

use alloy_primitives::U256;
use payer::Pay;
use plugin_api::{
    Address, Wei,
    chain::{IntentStatus, TxState},
};
use plugin_testing::{Builder, ScriptedChain, ScriptedTx, TestGateway, Value, Wallet, json};
use std::time::Duration;

pub const MINUTE: Duration = Duration::from_secs(60);
/// Number of the wallet with the key of the role relayer.
pub const RELAYER: u64 = 77;
pub const RICH: &str = "1000000000000000000000";
/// Blocks after which an inclusion is final.
pub const DEPTH: u64 = 4;

pub fn relayer() -> Address {
    Wallet::new(RELAYER).address().parse().unwrap()
}

/// Gateways with the plugin on each database, not yet started; the relayer can pay.
pub async fn builders(chain: &ScriptedChain) -> Vec<Builder> {
    chain.set_balance(relayer(), RICH);
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    builders.into_iter().map(|builder| prepared(builder, chain)).collect()
}

pub fn prepared(builder: Builder, chain: &ScriptedChain) -> Builder {
    let builder = builder.plugin(payer::module()).chain(chain, &[]).signer("relayer", RELAYER);
    builder.configure(|config| {
        let main = config.chains.get_mut("main").unwrap();
        (main.confirmations, main.reorg_depth) = (2, DEPTH);
    })
}

/// A chain and the same gateway on each database, one after the other.
pub async fn each(test: impl AsyncFn(&ScriptedChain, &TestGateway)) {
    each_with(|builder| builder, test).await;
}

/// The same with another configuration.
pub async fn each_with(adjust: impl Fn(Builder) -> Builder, test: impl AsyncFn(&ScriptedChain, &TestGateway)) {
    let count = builders(&ScriptedChain::start().await).await.len();
    for place in 0..count {
        let chain = ScriptedChain::start().await;
        let gateway = adjust(builders(&chain).await.remove(place)).start().await;
        test(&chain, &gateway).await;
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}

/// Calls an extension point of the test plugin.
pub async fn ask(gateway: &TestGateway, point: &str, input: &Value) -> Value {
    let input = serde_json::to_vec(input).unwrap();
    let mut answers = gateway.gateway().extension_points.collect(point, input).await;
    answers.pop().and_then(|answer| serde_json::from_str(answer.value.get()).ok()).unwrap_or_default()
}

pub async fn pay(gateway: &TestGateway, pay: Pay) -> Value {
    ask(gateway, "pay", &json!(pay)).await
}

/// Pays, and every server forgets the transaction as soon as it has it.
pub async fn pay_in_vain(chain: &ScriptedChain, gateway: &TestGateway, number: u8) -> IntentStatus {
    chain.lose(true);
    pay(gateway, payment(number)).await;
    let sent = becomes(gateway, &number.to_string(), TxState::Sent).await;
    chain.lose(false);
    sent
}

/// The one transaction that waits becomes final, and pays this payment.
pub async fn ends_paid_once(chain: &ScriptedChain, gateway: &TestGateway, number: u8) -> IntentStatus {
    waits(chain, 1).await;
    chain.mine_empty(DEPTH + 1);
    let last = becomes(gateway, &number.to_string(), TxState::Final).await;
    assert_paid_once(chain, [number]);
    last
}

pub async fn status(gateway: &TestGateway, key: &str) -> IntentStatus {
    serde_json::from_value(ask(gateway, "paid", &json!(key)).await).unwrap()
}

/// Waits for a state.
pub async fn becomes(gateway: &TestGateway, key: &str, state: TxState) -> IntentStatus {
    let holds = async || status(gateway, key).await.state == state;
    let what = format!("{key} becomes {state:?}");
    if tokio::time::timeout(MINUTE, until(holds)).await.is_err() {
        panic!("{what}: it is {:#?}", status(gateway, key).await);
    }
    status(gateway, key).await
}

/// Polls without end: each caller limits it and says what it found instead.
pub async fn until(holds: impl AsyncFn() -> bool) {
    while !holds().await {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Waits until the reason of an intent contains these words.
pub async fn says(gateway: &TestGateway, key: &str, words: &str) {
    let holds = async || status(gateway, key).await.reason.is_some_and(|reason| reason.contains(words));
    if tokio::time::timeout(MINUTE, until(holds)).await.is_err() {
        panic!("`{words}` is not said: {:#?}", status(gateway, key).await);
    }
}

/// Waits until so many transactions wait to be mined.
pub async fn waits(chain: &ScriptedChain, count: usize) -> Vec<ScriptedTx> {
    let in_time = tokio::time::timeout(MINUTE, until(async || chain.waiting().len() == count)).await;
    assert!(in_time.is_ok(), "{count} transactions should wait: {:?}", chain.waiting());
    chain.waiting()
}

/// A payment of so many wei to an address of its own.
pub fn payment(number: u8) -> Pay {
    Pay { key: number.to_string(), to: Address([number; 20]), value: wei(number.into()), ..Pay::default() }
}

pub fn wei(amount: u64) -> Wei {
    Wei(U256::from(amount))
}

/// Each of these payments is on the chain once, and nothing else is.
pub fn assert_paid_once(chain: &ScriptedChain, numbers: impl IntoIterator<Item = u8>) {
    let mined = chain.mined();
    let mut paid: Vec<Wei> =
        mined.iter().filter(|tx| tx.from == relayer() && tx.value != Wei::ZERO).map(|tx| tx.value).collect();
    paid.sort_unstable();
    let expected: Vec<Wei> = numbers.into_iter().map(|number| wei(number.into())).collect();
    assert_eq!(paid, expected, "{mined:#?}");
}
