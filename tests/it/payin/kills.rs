//! SIGKILL at each step of a pay-in, with reorganisations of both chains, which this process plays: a server that answers no more holds the
//! gateway at the request at which it is killed.
//!
//! The rule that is tested: every quote whose deposit came is paid once, with the coins that it says; what came a second time is the
//! operator's; and nobody else gets anything.
//!
//! Between a kill and the next start the chain gets what brings the quote to its step: a gateway runs its jobs when it starts, and looks
//! at them only now and then afterwards.

use super::{
    scripted_shop::{ScriptedDeposits, ScriptedShop},
    shop::hasten,
};
use crate::{
    crash::{Dice, expire_leases, many_kills, query},
    e2e::Site,
    entry::sender::is_as_the_journal_says,
    storage::Engine,
};
use futures_util::future::join_all;
use plugin_api::Wei;
use plugin_testing::{ScriptedTx, Value, Wallet, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

/// On each database: 20 in all. `cargo xtask kills` sets another number.
const KILLS: u64 = 10;
/// Quotes whose deposits come before a start; that of the first one comes twice.
const SOLD_PER_RUN: usize = 2;
/// Quotes that are asked for at a time, and answered ones that a run of the step [`Step::Quoted`] leaves for the runs after it.
const ASKED_AT_ONCE: u64 = 4;
const STOCK: usize = SOLD_PER_RUN * STEPS.len();
const OF_ONE_AMOUNT: u64 = 100;
/// Recipients are the wallets from this number on.
const FIRST_RECIPIENT: u64 = 500_000;
/// Requests that a server of the main chain, or one of deposits, answers at most before the kill.
const REQUESTS: u64 = 12;
const REQUESTS_OF_SCAN: u64 = 40;
/// How long the kill waits for them: a gateway that has nothing to do asks for heads only.
const REQUESTS_LIMIT: Duration = Duration::from_secs(1);
const LIMIT: Duration = Duration::from_secs(120);
/// Jobs are looked at every five seconds.
const HASTENED_AGAIN: Duration = Duration::from_millis(500);
/// Blocks of the main chain that come as often while a payout is to become final.
const BLOCKS: u64 = 2;
const POLL: Duration = Duration::from_millis(10);

/// How far the newest quote with a deposit comes until the gateway is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// Its quote is answered, while other quotes are asked for.
    Quoted,
    Seen,
    Confirmed,
    /// Its payout is in the journal.
    Recorded,
    Sent,
    Mined,
    Paid,
}

const STEPS: [Step; 7] =
    [Step::Quoted, Step::Seen, Step::Confirmed, Step::Recorded, Step::Sent, Step::Mined, Step::Paid];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_few_kills_pay_nothing_twice_and_leave_nothing_unpaid() {
    sell_and_kill(KILLS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo xtask kills"]
async fn many_kills_pay_nothing_twice_and_leave_nothing_unpaid() {
    sell_and_kill(many_kills()).await;
}

async fn sell_and_kill(kills: u64) {
    let (dice, started) = (Dice::new(), Instant::now());
    let run = async |engine, number| KillRun::begin(engine, dice.fork(number)).await.finish(kills).await;
    tokio::join!(run(Engine::Sqlite, 0), run(Engine::Postgres, 1));
    eprintln!("{kills} kills on each database in {:?}", started.elapsed());
}

struct Sale {
    quote: Value,
    to: Wallet,
}

impl Sale {
    fn units(&self) -> &str {
        self.quote["sendExactly"].as_str().unwrap()
    }
}

struct KillRun {
    shop: ScriptedShop,
    dice: Dice,
    /// For how many recipients quotes were asked for.
    asked: u64,
    /// Quotes that were answered, and have no deposit yet.
    stock: Vec<Sale>,
    sold: Vec<Sale>,
    sold_twice: usize,
    /// Kills by the step at which the newest quote with a deposit was.
    kills_at: BTreeMap<Step, u64>,
    /// The highest block that the main chain ever had.
    highest: u64,
    /// Transactions of the key that the gateway did not send.
    elsewhere: BTreeSet<String>,
}

impl KillRun {
    async fn begin(engine: Engine, dice: Dice) -> Self {
        let shop = ScriptedShop::open(engine).await;
        let (asked, sold_twice, highest) = (0, 0, shop.main.head());
        let (stock, sold, kills_at, elsewhere) = (Vec::new(), Vec::new(), BTreeMap::new(), BTreeSet::new());
        Self { shop, dice, asked, stock, sold, sold_twice, kills_at, highest, elsewhere }
    }

    async fn finish(mut self, kills: u64) {
        for kill in 0..kills {
            let step = STEPS[usize::try_from(kill).unwrap() % STEPS.len()];
            if kill > 0 {
                self.prepare(step);
                self.start_again().await;
            }
            match step {
                Step::Quoted => self.ask_until_killed().await,
                step => self.come_to(step).await,
            }
            self.count_kill().await;
            self.disturb_chains();
        }
        self.start_again().await;
        for place in 0..self.sold.len() {
            let is_paid = async |run: &mut Self| run.step_of(&run.sold[place]).await == Step::Paid;
            self.until("what was sold is paid", BLOCKS, is_paid).await;
        }
        self.shop.main.mine_empty(ScriptedShop::FINAL_DEPTH);
        eprintln!("{:?}", self.kills_at);
        self.compare().await;
    }

    /// Starts without waiting for what the dead process held, nor for the times of its jobs.
    async fn start_again(&mut self) {
        expire_leases(&self.shop.setup).await;
        hasten(&self.shop.setup).await;
        self.shop.start().await;
    }

    /// Mines what the newest quote with a deposit needs for this step, but for what has to follow the transfer of coins.
    fn prepare(&mut self, step: Step) {
        let (main, dev) = (&self.shop.main, &self.shop.deposits.chain);
        if step != Step::Quoted && step != Step::Paid {
            let sales: Vec<Sale> = self.stock.drain(..SOLD_PER_RUN).collect();
            let twice = sales.iter().chain(sales.first());
            dev.mine(twice.map(|sale| ScriptedDeposits::transfer(sale.units())).collect());
            self.sold_twice += 1;
            self.sold.extend(sales);
        }
        if step > Step::Seen {
            dev.mine_empty(ScriptedDeposits::CONFIRMATIONS);
        }
        if step == Step::Paid {
            main.mine_empty(ScriptedShop::FINAL_DEPTH);
        }
    }

    /// Asks for quotes until there are enough, and is killed between the answers to the last ones.
    async fn ask_until_killed(&mut self) {
        self.until("quotes are given", 0, async |run| {
            let asked = run.ask(ASKED_AT_ONCE);
            let answered = join_all(asked).await;
            run.stock.extend(answered.into_iter().flatten());
            run.stock.len() >= STOCK
        })
        .await;
        let (mut asked, answers) = (tokio::task::JoinSet::new(), self.dice.below(ASKED_AT_ONCE));
        self.ask(ASKED_AT_ONCE).into_iter().for_each(|one| drop(asked.spawn(one)));
        for _ in 0..answers {
            self.stock.extend(asked.join_next().await.unwrap().unwrap());
        }
        self.shop.gateway.kill().await.unwrap();
        // An answer may have been on its way. A quote without one may be stored or not: nobody pays for it.
        self.stock.extend(asked.join_all().await.into_iter().flatten());
    }

    /// Requests for quotes, each for a recipient of its own.
    fn ask(&mut self, count: u64) -> Vec<impl Future<Output = Option<Sale>> + Send + use<>> {
        let first = self.asked;
        self.asked += count;
        (first..self.asked).map(|place| ask(self.shop.site.clone(), place)).collect()
    }

    /// Until the newest quote with a deposit is on its way to this step, at any request there.
    async fn come_to(&mut self, step: Step) {
        let before = match step {
            Step::Quoted | Step::Seen => Step::Quoted,
            Step::Confirmed | Step::Recorded | Step::Sent => Step::Seen,
            // What is sent is mined below, at once.
            Step::Mined => Step::Sent,
            Step::Paid => Step::Paid,
        };
        let blocks = if step == Step::Paid { BLOCKS } else { 0 };
        let has_come = async |run: &mut Self| run.step_of(run.sold.last().unwrap()).await >= before;
        self.until(&format!("a quote is on its way to the step {step:?}"), blocks, has_come).await;
        if step >= Step::Mined {
            self.shop.main.mine_empty(1);
        }
        // The way to what is seen goes by the chain of deposits, all else by the main one.
        let (server, most) = match step {
            Step::Seen => (&self.shop.deposits.chain, REQUESTS_OF_SCAN),
            _ => (&self.shop.main, REQUESTS),
        };
        let answers = self.dice.below(most);
        let (begun, goal) = (Instant::now(), server.requests() + answers);
        self.shop.fall_silent(server, answers);
        while server.requests() <= goal && begun.elapsed() < REQUESTS_LIMIT {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.shop.gateway.kill().await.unwrap();
        self.shop.answer_again();
    }

    async fn count_kill(&mut self) {
        let at = match self.sold.last() {
            Some(sale) => self.step_of(sale).await,
            None => Step::Quoted,
        };
        *self.kills_at.entry(at).or_default() += 1;
    }

    /// As the main chain and the database have it.
    async fn step_of(&self, sale: &Sale) -> Step {
        let is_to = |tx: &ScriptedTx| tx.to.to_string() == sale.to.address();
        let rows = "SELECT id, status, CASE WHEN intent IS NULL THEN 'none' ELSE 'recorded' END FROM payin_quotes";
        let rows = query(&self.shop.setup, rows).await;
        let row = rows.iter().find(|row| row[0] == sale.quote["quoteId"].as_str().unwrap()).unwrap();
        match (&*row[1], &*row[2]) {
            ("paid", _) => Step::Paid,
            ("confirmed", "recorded") if self.shop.main.mined().iter().any(is_to) => Step::Mined,
            ("confirmed", "recorded") if self.shop.main.waiting().iter().any(is_to) => Step::Sent,
            ("confirmed", "recorded") => Step::Recorded,
            ("confirmed", _) => Step::Confirmed,
            ("seen", _) => Step::Seen,
            ("quoted", _) => Step::Quoted,
            other => panic!("{other:?}: {}", sale.quote),
        }
    }

    /// While the gateway is dead.
    fn disturb_chains(&mut self) {
        let (main, dev) = (self.shop.main.clone(), self.shop.deposits.chain.clone());
        self.highest = self.highest.max(main.head());
        match self.dice.below(5) {
            0 => {
                // Nothing that was final. The transactions of these blocks wait again.
                main.reorg(self.dice.below(main.head() + ScriptedShop::FINAL_DEPTH - self.highest));
                main.mine_empty(self.dice.below(3));
            }
            1 => main.lose(false),
            2 => drop(self.elsewhere.insert(self.shop.send_elsewhere())),
            3 => {
                // No block with all confirmations. A deposit returns above the block that its quote was given at.
                let depth = self.dice.below(ScriptedDeposits::CONFIRMATIONS);
                let removed = dev.reorg(depth);
                dev.mine_empty(depth);
                dev.mine(removed);
            }
            _ => {}
        }
    }

    /// Has the jobs run again now and then, and so many blocks of the main chain mined.
    async fn until(&mut self, what: &str, blocks: u64, mut holds: impl AsyncFnMut(&mut Self) -> bool) {
        let (begun, mut hastened) = (Instant::now(), Instant::now());
        while !holds(self).await {
            assert!(begun.elapsed() < LIMIT, "{what}: {:?}", self.shop.rows().await);
            if hastened.elapsed() >= HASTENED_AGAIN {
                hasten(&self.shop.setup).await;
                self.shop.main.mine_empty(blocks);
                hastened = Instant::now();
            }
            tokio::time::sleep(POLL).await;
        }
    }

    async fn compare(&self) {
        let sent = self.shop.sent();
        let mut coins: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for tx in sent.iter().filter(|tx| tx.value != Wei::ZERO) {
            coins.entry(tx.to.to_string()).or_default().push(tx.value.to_string());
        }
        for Sale { quote, to } in &self.sold {
            let bought = quote["fmxOut"].as_str().unwrap().to_owned();
            assert_eq!(coins.remove(to.address()), Some(vec![bought]), "{quote}");
        }
        assert_eq!(coins, BTreeMap::new(), "nobody else has coins");
        for sale in &self.stock {
            assert_eq!(self.step_of(sale).await, Step::Quoted, "{}", sale.quote);
        }
        let left = query(&self.shop.setup, "SELECT state FROM payin_deposits WHERE state <> 'matched'").await;
        assert_eq!(left, vec![vec!["unmatched".to_owned()]; self.sold_twice], "what came twice is the operator's");
        let hashes = sent.iter().map(|tx| format!("0x{}", hex::encode(tx.hash))).collect();
        is_as_the_journal_says(&self.shop.setup, &hashes, &self.elsewhere).await;
    }
}

/// Nothing where the gateway does not answer any more, or gives no quote now.
async fn ask(site: Site, place: u64) -> Option<Sale> {
    let to = Wallet::new(FIRST_RECIPIENT + place);
    // Dust is a thousandth at most, so that many of one amount would find none.
    let amount = format!("1.{:03}", place / OF_ONE_AMOUNT);
    let body = json!({ "chain": "dev", "asset": "USDC", "amount": amount, "to": to.address() }).to_string();
    let request = site.request(reqwest::Method::POST, "/api/payin/quote").header("content-type", "application/json");
    let response = request.body(body).send().await.ok()?;
    let status = response.status().as_u16();
    let quote: Value = serde_json::from_str(&response.text().await.ok()?).ok()?;
    assert!(matches!(status, 201 | 409 | 429 | 503), "{status}: {quote}");
    (status == 201).then_some(Sale { quote, to })
}
