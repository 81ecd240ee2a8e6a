//! SIGKILL at every step of sending, against a real node: with reorganisations, a pool that holds back, loses or refuses what
//! tips too little, a server that refuses payments for good (and has passed on every second one all the same), and somebody
//! else who sends with the key. Then the chain is asked: every payment once and none lost, but for those that were given up,
//! and of those not one.

use super::{
    executioner::{Executioner, Moment},
    payee,
};
use crate::crash::Dice;
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

/// A life that meets no end at a request ends after this long, wherever it is.
const LIFE: Duration = Duration::from_millis(1500);
/// Requests of most lives at most.
const REQUESTS: u64 = 30;
/// Of every fourth: long enough for a payment to be given up, or for no end at a request.
const REQUESTS_OF_LONG: u64 = 400;
/// How long the last life may take until all is final.
const LAST_LIFE: Duration = Duration::from_secs(240);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_few_kills_lose_and_double_no_payment() {
    suffer(12, String::new()).await;
}

/// `cargo xtask kills` runs it, with as many kills as it is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo xtask kills"]
async fn many_kills_lose_and_double_no_payment() {
    let kills = std::env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(300);
    suffer(kills, String::new()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo xtask kills"]
async fn many_kills_lose_and_double_no_payment_on_postgres() {
    let kills = std::env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(300);
    suffer(kills, postgres::fresh_database().await.unwrap()).await;
}

/// What was done to the payments.
#[derive(Debug, Default)]
struct Story {
    before: u64,
    after: u64,
    anywhere: u64,
    reorganisations: u64,
    /// Rules of the pool: hold, drop, refuse.
    moods: u64,
    refusals: u64,
    losses: u64,
    foreign: u64,
    /// Transactions that servers were handed before the last life.
    handed_out: u64,
    given_up: usize,
}

async fn suffer(kills: u64, database: String) {
    let Some(world) = World::start(database).await else { return };
    let (mut dice, mut story, started) = (Dice::new(), Story::default(), Instant::now());
    for kill in 1..=kills {
        world.live(kill, &mut dice, &mut story).await;
        world.let_leases_end().await;
        world.happen(&mut dice, &mut story).await;
    }
    story.handed_out = world.executioner.handed_out();
    world.calm().await;
    let given_up = world.live_to_the_end(kills).await;
    world.count(kills, &given_up).await;
    story.given_up = given_up.len();
    eprintln!("{kills} kills in {:?}: {story:?}", started.elapsed());
    assert_eq!(story.before + story.after + story.anywhere, kills);
    assert!(world.executioner.handed_out() >= kills, "{story:?}");
    // Before the last life a dozen may meet few. In many, lives that send nothing would have nothing to lose.
    assert!(kills < 100 || (story.handed_out >= kills && story.given_up > 0), "{story:?}");
}

struct World {
    devnet: Devnet,
    executioner: Executioner,
    folder: TempDir,
    database: String,
    payer: String,
}

impl World {
    async fn start(database: String) -> Option<Self> {
        let devnet = match Devnet::start().await {
            Ok(devnet) => devnet,
            Err(error) => {
                eprintln!("SKIPPED: no dev network here: {error:#}");
                return None;
            }
        };
        let executioner = Executioner::start(devnet.facts.rpc_url.clone()).await;
        let payer = Wallet::new(0x777).address().to_owned();
        let (folder, world) = (TempDir::new().unwrap(), devnet);
        world.call("anvil_setBalance", json!([payer, "0x56bc75e2d63100000"])).await.unwrap();
        world.call("evm_setAutomine", json!([false])).await.unwrap();
        // Below every reorganisation to come: one that goes back to before the gift would take it.
        world.mine(payee::DEPTH).await.unwrap();
        Some(Self { devnet: world, executioner, folder, database, payer })
    }

    fn spawn(&self, last: u64) -> std::process::Child {
        let mut command = process::clean(env!("CARGO_BIN_EXE_payments-under-test"));
        let log = std::fs::File::options().create(true).append(true).open(self.folder.path().join("log")).unwrap();
        command.arg(self.folder.path().join("data")).args([&self.database, &self.executioner.url, &last.to_string()]);
        let said = std::fs::File::create(self.said()).unwrap();
        command.stdin(Stdio::null()).stdout(said).stderr(log).spawn().unwrap()
    }

    /// Where the latest life says which payments were given up.
    fn said(&self) -> std::path::PathBuf {
        self.folder.path().join("said")
    }

    async fn calm(&self) {
        self.executioner.refuse(false);
        self.devnet.honest().await.unwrap();
    }

    /// One life, with one payment more to make, and its end.
    async fn live(&self, number: u64, dice: &mut Dice, story: &mut Story) {
        let moment = if dice.below(2) == 0 { Moment::Before } else { Moment::After };
        let requests = if dice.below(4) == 0 { REQUESTS_OF_LONG } else { REQUESTS };
        self.executioner.take(self.spawn(number), Some((dice.below(requests), moment)));
        let begun = Instant::now();
        while self.executioner.ended().is_none() {
            if begun.elapsed() > LIFE {
                self.executioner.kill();
                story.anywhere += 1;
                return;
            }
            if dice.below(8) == 0 {
                self.devnet.mine(1).await.unwrap();
            }
            // The pace of the chain.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        match self.executioner.ended().and_then(|status| status.code()) {
            None if moment == Moment::Before => story.before += 1,
            None => story.after += 1,
            // All was final: that life had nothing to lose.
            Some(0) => story.anywhere += 1,
            Some(code) => panic!("it ended by itself with {code}:\n{}", self.log()),
        }
    }

    /// What the dead held of a shared database is free after 20 s, which no life here waits for.
    async fn let_leases_end(&self) {
        if !self.database.is_empty() {
            let mut connection = PgConnection::connect(&self.database).await.unwrap();
            // A life may end before it has made the table.
            let _ = connection.execute("UPDATE host_tx_lanes SET lease_until_ms = 0").await;
        }
    }

    /// What happens between two lives.
    async fn happen(&self, dice: &mut Dice, story: &mut Story) {
        let mood = |underpriced: &str| json!({ "tip": { "minWei": 3_000_000_000u64.to_string(), "underpriced": underpriced } });
        match dice.below(14) {
            0..=2 => {
                let depth = 1 + dice.below(payee::DEPTH - 2);
                if self.devnet.head().await.unwrap() > depth {
                    self.devnet.call("anvil_reorg", json!([depth, []])).await.unwrap();
                    story.reorganisations += 1;
                }
            }
            3 => self.be(mood("hold"), story).await,
            4 => self.be(mood("drop"), story).await,
            5 => self.be(mood("refuse"), story).await,
            6 | 7 => self.calm().await,
            8 => {
                self.devnet.call("anvil_dropAllTransactions", json!([])).await.unwrap();
                story.losses += 1;
            }
            9 => {
                let transaction = json!({ "from": self.payer, "to": Address([0xee; 20]), "value": "0x0", "gas": "0x5208",
                    "gasPrice": "0x174876e800" });
                // The pool may hold one of ours with this nonce that pays as much.
                if self.devnet.call("eth_sendTransaction", json!([transaction])).await.is_ok() {
                    story.foreign += 1;
                }
            }
            10 | 11 => {
                self.executioner.refuse(true);
                story.refusals += 1;
            }
            _ => self.devnet.mine(1 + dice.below(3)).await.unwrap(),
        }
    }

    async fn be(&self, rules: Value, story: &mut Story) {
        self.devnet.control(rules).await.unwrap();
        story.moods += 1;
    }

    /// Answers the payments that were given up.
    async fn live_to_the_end(&self, last: u64) -> Vec<i64> {
        self.executioner.take(self.spawn(last), None);
        let begun = Instant::now();
        while self.executioner.ended().is_none() {
            assert!(begun.elapsed() < LAST_LIFE, "not all is final within {LAST_LIFE:?}:\n{}", self.log());
            self.devnet.mine(1).await.unwrap();
            // The pace of the chain.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let status = self.executioner.ended().unwrap();
        assert!(status.success(), "{status}:\n{}", self.log());
        std::fs::read_to_string(self.said()).unwrap().lines().map(|number| number.parse().unwrap()).collect()
    }

    /// Every account has what its payment is, no more and no less; nothing, when that was given up.
    async fn count(&self, payments: u64, given_up: &[i64]) {
        let mut wrong = Vec::new();
        for number in 1..=i64::try_from(payments).unwrap() {
            let account = payee::account(number);
            let balance = self.devnet.call("eth_getBalance", json!([account, "latest"])).await.unwrap();
            let balance: U256 = serde_json::from_value(balance).unwrap();
            let expected = if given_up.contains(&number) { U256::ZERO } else { payee::amount(number) };
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
