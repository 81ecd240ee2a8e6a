//! x402 in a gateway, on each database, with a scripted chain: one file per operation and subject.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod audit;
mod batches;
mod caller;
mod contributions;
mod disabled;
mod draft;
mod funds;
mod get_payer;
mod get_supported;
mod priced;
mod promises;
mod reorganisation;
mod reserve;
mod settle_payment;
mod verify_payment;

use draft::Draft;
use plugin_api::{Address, Wei};
use plugin_testing::{Builder, ScriptedChain, ScriptedLog, ScriptedTx, TestGateway, Value, Wallet, json};
use std::time::Duration;

const VAULT: &str = "x402Vault";
/// Number of the wallet with the key of the role facilitator.
const FACILITATOR: u64 = 900;
const PAYEE: Address = Address([0x22; 20]);
/// A payer who is a contract, once it answers.
const CONTRACT: Address = Address([0xc0; 20]);
/// 1 FMX.
const FMX: u64 = 1_000_000_000_000_000_000;
/// Blocks on a deposit that counts.
const CONFIRMATIONS: u64 = 2;
/// Blocks after which an inclusion is final.
const DEPTH: u64 = 4;
const MINUTE: Duration = Duration::from_secs(60);

/// A vault in which everybody has 1 FMX, locked, the first wallets and the contract by events too, and a facilitator with gas.
async fn chain() -> ScriptedChain {
    let chain = ScriptedChain::start().await;
    set_funds(&chain, FMX, 0);
    mock(&chain, "used(address,uint256) returns (bool)", &[json!(false)]);
    let facilitator = Wallet::new(FACILITATOR).address().parse().unwrap();
    chain.set_balance(facilitator, "1000000000000000000");
    let payers = (1..10).map(|wallet| Wallet::new(wallet).address().parse().unwrap());
    chain.mine(payers.chain([CONTRACT]).map(|payer| deposited(payer, FMX)).collect());
    chain.mine_empty(CONFIRMATIONS);
    chain
}

fn deposited(payer: Address, amount: u64) -> ScriptedLog {
    account("Deposited(address indexed payer, uint256 amount)", &[json!(payer), json!(amount.to_string())])
}

fn unlock_requested(payer: Address, at: i64) -> ScriptedLog {
    account("UnlockRequested(address indexed payer, uint64 at)", &[json!(payer), json!(at)])
}

fn withdrawn(payer: Address, amount: u64) -> ScriptedLog {
    account("Withdrawn(address indexed to, uint256 amount)", &[json!(payer), json!(amount.to_string())])
}

fn account(event: &str, arguments: &[Value]) -> ScriptedLog {
    ScriptedLog::new(VAULT, event, arguments)
}

/// What the vault answers when it is asked.
fn set_funds(chain: &ScriptedChain, balance: u64, unlock_at: i64) {
    mock(chain, "balance(address) returns (uint256)", &[json!(balance.to_string())]);
    mock(chain, "unlockAt(address) returns (uint256)", &[json!(unlock_at.to_string())]);
}

/// What the vault says of a voucher of a contract.
fn set_verify(chain: &ScriptedChain, ok: bool, reason: &str) {
    let verify = "verify((address,address,uint256,uint256,uint64,bytes32),bytes) returns (bool,string)";
    mock(chain, verify, &[json!(ok), json!(reason)]);
}

fn mock(chain: &ScriptedChain, function: &str, results: &[Value]) {
    chain.mock_call(ScriptedChain::address_of(VAULT), function, results);
}

/// A builder with this plugin for each database.
async fn builders(chain: &ScriptedChain, config: &Value) -> Vec<Builder> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    builders.into_iter().map(|builder| prepared(builder, chain, config)).collect()
}

fn prepared(builder: Builder, chain: &ScriptedChain, config: &Value) -> Builder {
    let builder = builder.plugin(x402::plugin_module()).plugin(caller::module()).config("x402", config.clone());
    builder.chain(chain, &[VAULT]).signer("facilitator", FACILITATOR).configure(|config| {
        let main = config.chains.get_mut("main").unwrap();
        (main.confirmations, main.reorg_depth) = (CONFIRMATIONS, DEPTH);
    })
}

/// A chain and a gateway on each database, one after the other.
async fn each(config: Value, test: impl AsyncFn(&ScriptedChain, &TestGateway)) {
    let count = builders(&chain().await, &config).await.len();
    for place in 0..count {
        let chain = chain().await;
        let gateway = start(builders(&chain, &config).await.remove(place), &chain).await;
        test(&chain, &gateway).await;
        finish(gateway).await;
    }
}

/// Starts a gateway that has all events of the vault.
async fn start(builder: Builder, chain: &ScriptedChain) -> TestGateway {
    let gateway = builder.start().await;
    gateway.indexed(chain).await;
    gateway
}

/// Ends a test: no plugin reported a fault.
async fn finish(gateway: TestGateway) {
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
}

async fn post(gateway: &TestGateway, path: &str, body: &Value) -> Value {
    let response = gateway.send("POST", path, &[("content-type", "application/json")], body.to_string()).await;
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    response.json()
}

async fn read(gateway: &TestGateway, path: &str) -> Value {
    let response = gateway.get(path).await;
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    response.json()
}

/// Waits for the first run of the job that sends batches, which comes when the gateway starts: the next one is five seconds of the clock
/// later, unless it is woken.
async fn first_run(gateway: &TestGateway) {
    let ran = "SELECT runs FROM host_job_runs WHERE plugin = 'x402' AND job = 'settle' AND runs > 0";
    TestGateway::eventually(MINUTE, "the job runs", async || !gateway.rows(ran).await.is_empty()).await;
}

/// Lets so much time pass that a job is due, and waits until it has run.
async fn runs_after(gateway: &TestGateway, job: &str, seconds: u64) {
    let runs = format!("SELECT runs FROM host_job_runs WHERE plugin = 'x402' AND job = '{job}'");
    let before = gateway.rows(&runs).await;
    gateway.clock().advance(Duration::from_secs(seconds)).await;
    TestGateway::eventually(MINUTE, "the job runs", async || gateway.rows(&runs).await != before).await;
}

/// Settles a voucher by the route; it is accepted.
async fn settle(gateway: &TestGateway, draft: &Draft) {
    let settled = post(gateway, "/api/x402/settle", &draft.payment()).await;
    assert_eq!(settled["success"], true, "{settled}");
}

/// Status, transaction and error of a voucher.
async fn state(gateway: &TestGateway, draft: &Draft) -> (String, Value, Value) {
    let payer = read(gateway, &format!("/api/x402/payer/{}", draft.payer())).await;
    let vouchers = payer["vouchers"].as_array().unwrap();
    let voucher = vouchers.iter().find(|voucher| voucher["nonce"].as_str() == Some(&*draft.nonce.to_string()));
    let voucher = voucher.unwrap_or_else(|| panic!("no voucher {} in {payer}", draft.nonce));
    (voucher["status"].as_str().unwrap().to_owned(), voucher["txHash"].clone(), voucher["error"].clone())
}

/// Lets time pass until a voucher has this status.
async fn becomes(gateway: &TestGateway, draft: &Draft, status: &str) {
    let holds = async || {
        gateway.clock().advance(Duration::from_secs(1)).await;
        state(gateway, draft).await.0 == status
    };
    let in_time = tokio::time::timeout(MINUTE, until(holds)).await;
    assert!(in_time.is_ok(), "voucher {} is {:?}, not {status}", draft.nonce, state(gateway, draft).await);
}

/// Lets time pass until so many transactions wait to be mined.
async fn waits(chain: &ScriptedChain, gateway: &TestGateway, count: usize) -> Vec<ScriptedTx> {
    let holds = async || {
        gateway.clock().advance(Duration::from_secs(1)).await;
        chain.waiting().len() == count
    };
    let in_time = tokio::time::timeout(MINUTE, until(holds)).await;
    assert!(in_time.is_ok(), "{count} transactions should wait: {:?}", chain.waiting());
    chain.waiting()
}

/// Polls without end: each caller limits it and says what it found instead.
async fn until(holds: impl AsyncFn() -> bool) {
    while !holds().await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The vault settles a voucher in this transaction.
fn settled(draft: &Draft, tx: [u8; 32]) -> ScriptedLog {
    let event = "Settled(address indexed payer, address indexed payee, uint256 amount, uint256 fee, uint256 nonce, bytes32 ref)";
    let arguments = [
        json!(draft.payer()),
        json!(draft.payee),
        json!(draft.amount.to_string()),
        json!((draft.amount / 100).to_string()),
        json!(draft.nonce.to_string()),
        json!(draft.reference),
    ];
    ScriptedLog { tx: tx.into(), ..ScriptedLog::new(VAULT, event, &arguments) }
}

fn skipped(draft: &Draft, reason: &str, tx: [u8; 32]) -> ScriptedLog {
    let event = "Skipped(address indexed payer, uint256 nonce, string reason)";
    let arguments = [json!(draft.payer()), json!(draft.nonce.to_string()), json!(reason)];
    ScriptedLog { tx: tx.into(), ..ScriptedLog::new(VAULT, event, &arguments) }
}

fn wei(amount: u64) -> Wei {
    Wei(alloy_primitives::U256::from(amount))
}
