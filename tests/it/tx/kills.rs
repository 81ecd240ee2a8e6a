//! SIGKILL at every step of sending, against a real node: with reorganisations, a pool that holds back, loses or
//! refuses transactions with too low a tip, a server that refuses payments for good (and forwards every second one all
//! the same), and another sender that uses the same key. At the end the balances on the chain must show every payment
//! exactly once, except those that the gateway cancelled, which must not be there.

use super::{
    killing_proxy::{KillPoint, KillingProxy},
    payee,
};
use crate::crash::{Dice, many_kills};
use alloy_primitives::U256;
use gateway_tests::{devnet::Devnet, postgres, process};
use plugin_api::Address;
use plugin_testing::{Value, Wallet, json};
use sqlx::{Connection as _, Executor as _, PgConnection};
use std::{
    process::Stdio,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// A process that was not killed at a request is killed after this time.
const RUN_MAX: Duration = Duration::from_millis(1500);
/// Most requests of three quarters of the runs.
const REQUESTS: u64 = 30;
/// Most requests of the other runs: enough for a payment to be cancelled, or for the time to run out first.
const REQUESTS_OF_LONG: u64 = 400;
/// How long the last run, which is not killed, may take until every payment is final.
const LAST_RUN_MAX: Duration = Duration::from_secs(240);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_few_kills_lose_and_double_no_payment() {
    kill_repeatedly(12, String::new()).await;
}

/// `cargo xtask kills` runs it, with as many kills as it is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo xtask kills"]
async fn many_kills_lose_and_double_no_payment() {
    kill_repeatedly(many_kills(), String::new()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo xtask kills"]
async fn many_kills_lose_and_double_no_payment_on_postgres() {
    kill_repeatedly(many_kills(), postgres::fresh_database().await.unwrap()).await;
}

/// What was done to the payments.
#[derive(Debug, Default)]
struct KillStatistics {
    before_request: u64,
    before_response: u64,
    /// Killed when the time was up, or not killed because every payment was final.
    elsewhere: u64,
    reorganisations: u64,
    /// Rules of the pool: hold, drop, refuse.
    pool_rules: u64,
    refusals: u64,
    losses: u64,
    foreign: u64,
    /// Transactions that were sent before the last run.
    handed_out: u64,
    cancelled: usize,
}

async fn kill_repeatedly(kills: u64, database: String) {
    let Some(fixture) = Fixture::start(database).await else { return };
    let (mut dice, mut tally, started) = (Dice::new(), KillStatistics::default(), Instant::now());
    for kill in 1..=kills {
        fixture.run_until_killed(kill, &mut dice, &mut tally).await;
        fixture.expire_leases().await;
        fixture.disturb_chain(&mut dice, &mut tally).await;
    }
    tally.handed_out = fixture.proxy.handed_out();
    fixture.end_disturbances().await;
    let cancelled = fixture.run_to_the_end(kills).await;
    fixture.assert_paid(kills, &cancelled).await;
    tally.cancelled = cancelled.len();
    eprintln!("{kills} kills in {:?}: {tally:?}", started.elapsed());
    assert_eq!(tally.before_request + tally.before_response + tally.elsewhere, kills);
    assert!(fixture.proxy.handed_out() >= kills, "{tally:?}");
    // A dozen kills may hit few sent transactions. Many must: runs that send nothing prove nothing.
    assert!(kills < 100 || (tally.handed_out >= kills && tally.cancelled > 0), "{tally:?}");
}

struct Fixture {
    devnet: Devnet,
    proxy: KillingProxy,
    folder: TempDir,
    database: String,
    payer: String,
}

impl Fixture {
    async fn start(database: String) -> Option<Self> {
        let devnet = match Devnet::start().await {
            Ok(devnet) => devnet,
            Err(error) => {
                eprintln!("SKIPPED: no dev network here: {error:#}");
                return None;
            }
        };
        let proxy = KillingProxy::start(devnet.facts.rpc_url.clone()).await;
        let payer = Wallet::new(0x777).address().to_owned();
        let folder = TempDir::new().unwrap();
        devnet.call("anvil_setBalance", json!([payer, "0x56bc75e2d63100000"])).await.unwrap();
        devnet.call("evm_setAutomine", json!([false])).await.unwrap();
        // Deeper than any reorganisation of this test, which would otherwise take the payer's balance back.
        devnet.mine(payee::DEPTH).await.unwrap();
        Some(Self { devnet, proxy, folder, database, payer })
    }

    fn spawn(&self, last: u64) -> std::process::Child {
        let mut command = process::clean(env!("CARGO_BIN_EXE_payments-under-test"));
        let log = std::fs::File::options().create(true).append(true).open(self.folder.path().join("log")).unwrap();
        command.arg(self.folder.path().join("data")).args([&self.database, &self.proxy.url, &last.to_string()]);
        let said = std::fs::File::create(self.said()).unwrap();
        command.stdin(Stdio::null()).stdout(said).stderr(log).spawn().unwrap()
    }

    /// The file with the standard output of the latest process: the payments that were cancelled.
    fn said(&self) -> std::path::PathBuf {
        self.folder.path().join("said")
    }

    async fn end_disturbances(&self) {
        self.proxy.refuse(false);
        self.devnet.honest().await.unwrap();
    }

    /// Runs a process that has one payment more to make, until it is killed.
    async fn run_until_killed(&self, number: u64, dice: &mut Dice, tally: &mut KillStatistics) {
        let kill_point = if dice.below(2) == 0 { KillPoint::BeforeRequest } else { KillPoint::BeforeResponse };
        let requests = if dice.below(4) == 0 { REQUESTS_OF_LONG } else { REQUESTS };
        self.proxy.attach(self.spawn(number), Some((dice.below(requests), kill_point)));
        let begun = Instant::now();
        while self.proxy.ended().is_none() {
            if begun.elapsed() > RUN_MAX {
                self.proxy.kill();
                tally.elsewhere += 1;
                return;
            }
            if dice.below(8) == 0 {
                self.devnet.mine(1).await.unwrap();
            }
            // Blocks come at intervals, as on a real chain.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        match self.proxy.ended().and_then(|status| status.code()) {
            None if kill_point == KillPoint::BeforeRequest => tally.before_request += 1,
            None => tally.before_response += 1,
            // Every payment was final: the process ended before it was killed.
            Some(0) => tally.elsewhere += 1,
            Some(code) => panic!("it ended by itself with {code}:\n{}", self.log()),
        }
    }

    /// Leases of a killed process in a shared database expire after 20 s, longer than a run here lasts.
    async fn expire_leases(&self) {
        if !self.database.is_empty() {
            let mut connection = PgConnection::connect(&self.database).await.unwrap();
            // The process may be killed before it has created the table.
            let _ = connection.execute("UPDATE host_tx_lanes SET lease_until_ms = 0").await;
        }
    }

    /// Changes something about the chain between two runs.
    async fn disturb_chain(&self, dice: &mut Dice, tally: &mut KillStatistics) {
        let rules = |kind: &str| json!({ "tip": { "minWei": 3_000_000_000u64.to_string(), "underpriced": kind } });
        match dice.below(14) {
            0..=2 => {
                let depth = 1 + dice.below(payee::DEPTH - 2);
                if self.devnet.head().await.unwrap() > depth {
                    self.devnet.reorganise(depth).await.unwrap();
                    tally.reorganisations += 1;
                }
            }
            3 => self.set_pool_rules(rules("hold"), tally).await,
            4 => self.set_pool_rules(rules("drop"), tally).await,
            5 => self.set_pool_rules(rules("refuse"), tally).await,
            6 | 7 => self.end_disturbances().await,
            8 => {
                self.devnet.call("anvil_dropAllTransactions", json!([])).await.unwrap();
                tally.losses += 1;
            }
            9 => {
                let transaction = json!({ "from": self.payer, "to": Address([0xee; 20]), "value": "0x0", "gas": "0x5208",
                    "gasPrice": "0x174876e800" });
                // Refused if the pool holds a transaction of ours with this nonce and at least this price.
                if self.devnet.call("eth_sendTransaction", json!([transaction])).await.is_ok() {
                    tally.foreign += 1;
                }
            }
            10 | 11 => {
                self.proxy.refuse(true);
                tally.refusals += 1;
            }
            _ => self.devnet.mine(1 + dice.below(3)).await.unwrap(),
        }
    }

    async fn set_pool_rules(&self, rules: Value, tally: &mut KillStatistics) {
        self.devnet.control(rules).await.unwrap();
        tally.pool_rules += 1;
    }

    /// Runs a process until every payment is final. Returns the payments that were cancelled.
    async fn run_to_the_end(&self, last: u64) -> Vec<i64> {
        self.proxy.attach(self.spawn(last), None);
        let begun = Instant::now();
        while self.proxy.ended().is_none() {
            assert!(begun.elapsed() < LAST_RUN_MAX, "not all is final within {LAST_RUN_MAX:?}:\n{}", self.log());
            self.devnet.mine(1).await.unwrap();
            // Blocks come at intervals, as on a real chain.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let status = self.proxy.ended().unwrap();
        assert!(status.success(), "{status}:\n{}", self.log());
        std::fs::read_to_string(self.said()).unwrap().lines().map(|number| number.parse().unwrap()).collect()
    }

    /// Every account has the amount of its payment exactly; none if the payment was cancelled.
    async fn assert_paid(&self, payments: u64, cancelled: &[i64]) {
        let mut wrong = Vec::new();
        for number in 1..=i64::try_from(payments).unwrap() {
            let account = payee::account(number);
            let balance = self.devnet.call("eth_getBalance", json!([account, "latest"])).await.unwrap();
            let balance: U256 = serde_json::from_value(balance).unwrap();
            let expected = if cancelled.contains(&number) { U256::ZERO } else { payee::amount(number) };
            if balance != expected {
                wrong.push(format!("{number}: {balance} instead of {expected}"));
            }
        }
        assert_eq!(wrong, Vec::<String>::new(), "{}", self.log());
        let beyond = self.devnet.call("eth_getBalance", json!([payee::account(0), "latest"])).await.unwrap();
        assert_eq!(beyond, "0x0");
    }

    fn log(&self) -> String {
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(80)..].join("\n")
    }
}
