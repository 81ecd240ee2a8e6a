//! Many wallets on the dev network, with a payout in the middle, and SIGKILL at random times.
//!
//! The rule that is tested: every coin that was put in is in the float in the end, but for what blocks took as fees, to the wei; each address
//! of the run is recognised and no other; and a payout gets into a block as soon as it does without a load test.
//!
//! CI runs some wallets, on SQLite; `cargo xtask prove` runs 10,000, on both databases.

use super::control;
use crate::{
    crash::{Dice, query},
    payin::{ScriptedDeposits, Shop, hasten},
    storage::Engine,
};
use gateway_clock::Clock;
use gateway_tests::devnet::{Devnet, LoadTestFacts};
use plugin_testing::{TestGateway, Value, Wallet, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// Of CI.
const SAMPLE: u64 = 32;
const KILLS: u64 = 2;
/// What the dev network gives the float: 1,000 coins.
const DEPOSIT: u128 = 1_000_000_000_000_000_000_000;
/// "FXLT", and the version.
const MARKER: &str = "0x46584c5401";
const LIMIT: Duration = Duration::from_secs(120);
/// Of a run of all wallets: some hundred of them in a second are used, and two dozen are looked at in the end.
const PER_WALLET: Duration = Duration::from_millis(250);
/// By how much later a payout may be in a block while the load test runs: blocks come each second, and a loaded machine is slow.
const LATER_MAX: Duration = Duration::from_secs(5);
/// Between two looks; and the blocks that come then, once they do not come by themselves. A runner that is further behind pauses.
const PAUSE: Duration = Duration::from_millis(500);
const BLOCKS: u64 = 3;

struct Crowd<'n> {
    shop: Shop<'n>,
    /// On which coins are paid for.
    deposits: ScriptedDeposits,
    /// Whether blocks come each second, or when this test looks at something.
    has_block_time: bool,
    facts: LoadTestFacts,
    wallets: u64,
    operator: Wallet,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_returns_every_coin_and_delays_no_payout() {
    run(Engine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the other database does it in CI: cargo xtask prove"]
async fn a_crowd_returns_every_coin_and_delays_no_payout_on_postgres() {
    run(Engine::Postgres).await;
}

async fn run(engine: Engine) {
    let wallets = std::env::var("GATEWAY_TEST_WALLETS").ok().and_then(|text| text.parse().ok()).unwrap_or(SAMPLE);
    let (mut dice, options) = (Dice::new(), ["--load-test", "--block-time", "1"]);
    let devnet = Devnet::start_with(&options).await.unwrap();
    let mut crowd = Crowd::open(&devnet, engine, wallets).await;
    crowd.until(LIMIT, "the wallets are derived", |stats| stats["membership"]["loaded"] == wallets).await;
    let idle = crowd.payout(1).await;
    control(&crowd.shop.gateway, &crowd.operator, "start").await;
    crowd.until(LIMIT, "it is under way", is_under_way).await;
    let busy = crowd.payout(2).await;
    assert!(is_under_way(&crowd.stats().await), "it was under way all the time: {}", crowd.stats().await);
    eprintln!("{engine:?}: a payout was in a block after {idle:?}, and after {busy:?} beside the load test");
    assert!(busy <= idle + LATER_MAX, "{busy:?}, and {idle:?} without a load test");
    for _ in 0..KILLS {
        // A random moment is what is tested.
        tokio::time::sleep(Duration::from_millis(500 + dice.below(2500))).await;
        crowd.shop.gateway.kill().await.unwrap();
        crowd.shop.start_again().await;
    }
    // Few wallets would wait for blocks most of the time.
    if wallets == SAMPLE {
        devnet.call("evm_setIntervalMining", json!([0])).await.unwrap();
        crowd.has_block_time = false;
    }
    let end = LIMIT + PER_WALLET * u32::try_from(wallets).unwrap();
    crowd.until(end, "every wallet was used", |stats| stats["wallets"]["pass"].as_u64() >= Some(1)).await;
    control(&crowd.shop.gateway, &crowd.operator, "drain").await;
    crowd.until(end, "it is drained", |stats| stats["drained"] == true).await;
    crowd.compare(&devnet).await;
}

fn is_under_way(stats: &Value) -> bool {
    stats["mode"] == "running" && stats["counters"]["pending"].as_u64() > Some(0)
}

/// What the chain has of the load test.
#[derive(Default)]
struct Found {
    transactions: usize,
    fees: u128,
    volume: u128,
    /// Who sent or got something with the marker.
    marked: BTreeSet<String>,
    /// All others.
    others: BTreeSet<String>,
}

impl<'n> Crowd<'n> {
    async fn open(devnet: &'n Devnet, engine: Engine, wallets: u64) -> Self {
        let facts = devnet.facts.load_test.clone().expect("the dev network has the option --load-test");
        let operator = Wallet::new(70);
        let settings = [
            ("xpub", facts.xpub.clone()),
            ("wallets", wallets.to_string()),
            ("runner", "true".to_owned()),
            ("operators", format!("[\"{}\"]", operator.address())),
            ("rate_per_s", "500".to_owned()),
            ("wave_wallets", (wallets / 4).clamp(1, 100).to_string()),
            ("waves_max", "20".to_owned()),
            ("transfers", "1".to_owned()),
        ];
        let deposits = ScriptedDeposits::start().await;
        let adjust = |setup: gateway_tests::process::Setup| {
            let setup =
                deposits.configured(setup).set("signers.loadtest.key", &facts.seed).set("limits.allow", "127.0.0.1/32");
            settings.into_iter().fold(setup, |setup, (key, value)| setup.set(&format!("plugins.loadtest.{key}"), value))
        };
        let shop = Shop::open_with(devnet, engine, &["payin", "loadtest"], Vec::new(), adjust).await;
        Self { shop, deposits, has_block_time: true, facts, wallets, operator }
    }

    async fn stats(&self) -> Value {
        self.shop.site.get("/api/loadtest/stats").await.json()
    }

    async fn until(&self, limit: Duration, what: &str, holds: impl Fn(&Value) -> bool) {
        TestGateway::eventually(limit, what, async || {
            tokio::time::sleep(PAUSE).await;
            if !self.has_block_time {
                self.shop.devnet.mine(BLOCKS).await.unwrap();
            }
            holds(&self.stats().await)
        })
        .await;
    }

    /// Sells to somebody; returns how long after it was recorded the payout was known to be in a block.
    async fn payout(&self, number: u64) -> Duration {
        let to = Wallet::new(700_000 + number);
        let quote = self.shop.quote("dev", "10", &to, None).await;
        let chain = &self.deposits.chain;
        chain.mine(vec![ScriptedDeposits::transfer(quote["sendExactly"].as_str().unwrap())]);
        chain.mine_empty(ScriptedDeposits::CONFIRMATIONS);
        let (key, delay) = (format!("payin {} 1", quote["quoteId"].as_str().unwrap()), std::cell::Cell::new(0));
        TestGateway::eventually(LIMIT, "the payout is in a block", async || {
            hasten(&self.shop.setup).await;
            tokio::time::sleep(PAUSE / 5).await;
            let rows = "SELECT name, state, CAST(created_ms AS TEXT) FROM host_tx_intents WHERE plugin = 'payin'";
            let rows = query(&self.shop.setup, rows).await;
            let Some(row) = rows.iter().find(|row| row[0] == key) else { return false };
            delay.set(Clock::System.now_ms() - row[2].parse::<i64>().unwrap());
            row[1] == "included" || row[1] == "final"
        })
        .await;
        assert_eq!(self.shop.coins(&to).await, quote["fmxOut"].as_str().unwrap());
        Duration::from_millis(delay.get().try_into().unwrap())
    }

    /// The end, as the chain has it.
    async fn compare(&self, devnet: &Devnet) {
        let found = read(devnet).await;
        let balance = async |address: &str| -> u128 {
            devnet.number("eth_getBalance", json!([address, "latest"])).await.unwrap().to()
        };
        assert_eq!(balance(&self.facts.float).await + found.fees, DEPOSIT, "{} transactions", found.transactions);
        assert_eq!(found.marked.len() as u64, self.wallets + 1, "all wallets, and the float");
        let roles = async |addresses: &BTreeSet<String>| {
            let mut roles = BTreeMap::<String, usize>::new();
            for address in addresses {
                let view = self.shop.site.get(&format!("/api/loadtest/address/{address}")).await.json();
                *roles.entry(format!("{} {}", view["loadtest"], view["role"])).or_default() += 1;
            }
            roles
        };
        let of_run = [("true \"float\"".to_owned(), 1), ("true \"wallet\"".to_owned(), found.marked.len() - 1)];
        assert_eq!(roles(&found.marked).await, BTreeMap::from(of_run));
        assert_eq!(roles(&found.others).await, BTreeMap::from([("false null".to_owned(), found.others.len())]));
        for wallet in found.marked.iter().filter(|address| !address.eq_ignore_ascii_case(&self.facts.float)) {
            assert_eq!(balance(wallet).await, 0, "{wallet}");
        }
        let stats = self.stats().await;
        let counters = &stats["counters"];
        let told = (&counters["transactions"], &counters["gasWei"], &counters["volumeWei"]);
        let expected = (json!(found.transactions), json!(found.fees.to_string()), json!(found.volume.to_string()));
        assert_eq!(told, (&expected.0, &expected.1, &expected.2), "{stats}");
    }
}

fn wei(hex: &Value) -> u128 {
    u128::from_str_radix(hex.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

/// Reads all blocks, without the help of the gateway.
async fn read(devnet: &Devnet) -> Found {
    let mut found = Found::default();
    for number in 1..=devnet.head().await.unwrap() {
        let number = format!("{number:#x}");
        let block = devnet.call("eth_getBlockByNumber", json!([number, true])).await.unwrap();
        let sent = block["transactions"].as_array().unwrap();
        let parties =
            |one: &Value| [one["from"].clone(), one["to"].clone()].map(|party| party.as_str().map(str::to_owned));
        if !sent.iter().any(|one| one["input"] == MARKER) {
            found.others.extend(sent.iter().flat_map(parties).flatten());
            continue;
        }
        let receipts = devnet.call("eth_getBlockReceipts", json!([number])).await.unwrap();
        for (one, receipt) in sent.iter().zip(receipts.as_array().unwrap()) {
            assert_eq!(one["hash"], receipt["transactionHash"]);
            if one["input"] != MARKER {
                found.others.extend(parties(one).into_iter().flatten());
                continue;
            }
            assert_eq!(receipt["status"], "0x1");
            found.marked.extend(parties(one).into_iter().flatten());
            found.transactions += 1;
            found.fees += wei(&receipt["gasUsed"]) * wei(&receipt["effectiveGasPrice"]);
            found.volume += wei(&one["value"]);
        }
    }
    found
}
