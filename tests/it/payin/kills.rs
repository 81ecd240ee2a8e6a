//! SIGKILL at random steps of pay-ins, with reorganisations of the main chain.
//!
//! The rule that is tested: every quote whose deposit came is paid once, with the coins that it says; what came a second time is the
//! operator's; and nobody else gets anything.

use super::{
    Shop,
    shop::{FINAL_DEPTH, chains, confirm},
};
use crate::{
    crash::{Dice, many_kills, query},
    entry::sender::Sender,
    storage::Engine,
};
use futures_util::future::join_all;
use gateway_tests::devnet::{DepositChain, Devnet, encoded};
use plugin_testing::{Value, Wallet, json};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};
use tokio::sync::Mutex;

/// On each database. `cargo xtask kills` sets another number.
const KILLS: u64 = 3;
/// Quotes whose deposits are sent before each kill; that of the first one comes twice.
const SOLD_PER_RUN: u64 = 2;
/// Shallower than what the gateway holds for final.
const REORG_DEPTH: u64 = 3;
/// What a kill waits for, at random: nothing, or that the last quote is so far.
const STEPS: [&str; 4] = ["quoted", "seen", "confirmed", "paid"];
/// How long a kill waits for that, where a gateway gets nowhere.
const STEP_LIMIT: Duration = Duration::from_secs(30);
const GAS: &str = "0x493e0";

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
    let devnet = Devnet::start_with(&["--payin"]).await.unwrap();
    let (dice, started, changing) = (Dice::new(), Instant::now(), Mutex::new(()));
    let runs = [(Engine::Sqlite, "user2"), (Engine::Postgres, "user3")].into_iter().zip(0_u64..);
    join_all(runs.map(|((engine, buyer), number)| {
        let (devnet, dice, changing) = (&devnet, dice.fork(number), &changing);
        async move {
            let shop = Shop::open(devnet, engine).await;
            let (sender, chain) = (Sender::new(devnet, shop.payer), &chains(devnet)[0]);
            KillRun { shop, sender, chain, buyer, dice, changing, number, sold: Vec::new() }.finish(kills).await;
        }
    }))
    .await;
    eprintln!("{kills} kills in {:?}", started.elapsed());
}

struct KillRun<'n> {
    shop: Shop<'n>,
    sender: Sender<'n>,
    chain: &'n DepositChain,
    /// The test key that sends deposits.
    buyer: &'static str,
    dice: Dice,
    /// Held by the run that changes the main chain, which both share.
    changing: &'n Mutex<()>,
    number: u64,
    sold: Vec<(Value, Wallet)>,
}

impl KillRun<'_> {
    async fn finish(mut self, kills: u64) {
        for _ in 0..kills {
            self.sell().await;
            self.let_it_work().await;
            self.shop.gateway.kill().await.unwrap();
            self.disturb_chain().await;
            self.shop.start_again().await;
        }
        for (quote, _) in &self.sold {
            let is_paid = async || self.shop.state(quote).await["status"] == "paid";
            self.shop.until("what was sold is paid", is_paid).await;
        }
        self.shop.devnet.mine(FINAL_DEPTH).await.unwrap();
        self.compare(kills).await;
    }

    /// Some quotes, and their deposits in blocks.
    async fn sell(&mut self) {
        for place in 0..SOLD_PER_RUN {
            let to = Wallet::new(500_000 + 100_000 * self.number + self.sold.len() as u64);
            let quote = self.shop.quote(&self.chain.name, "1", &to, None).await;
            for _ in 0..=u64::from(place == 0) {
                self.deposit(quote["sendExactly"].as_str().unwrap()).await;
            }
            self.sold.push((quote, to));
        }
        confirm(self.shop.devnet, self.chain).await;
    }

    async fn deposit(&self, units: &str) {
        let data = encoded("transfer(address to, uint256 value)", &[&self.shop.deposit, units]).unwrap();
        let from = self.shop.devnet.account(self.buyer).unwrap();
        let transaction = json!({ "from": from, "to": self.chain.token, "data": data, "gas": GAS });
        let (devnet, url) = (self.shop.devnet, &self.chain.anvil_url);
        let hash: String = devnet.ask_at(url, "eth_sendTransaction", json!([transaction])).await.unwrap();
        self.shop
            .until("the deposit is in a block", async || {
                let receipt: Value = devnet.ask_at(url, "eth_getTransactionReceipt", json!([hash])).await.unwrap();
                receipt["status"] == "0x1"
            })
            .await;
    }

    /// Until the newest quote has come to a random step, and a random moment longer.
    async fn let_it_work(&mut self) {
        let step = usize::try_from(self.dice.below(STEPS.len() as u64)).unwrap();
        let begun = Instant::now();
        while self.newest_step().await < step && begun.elapsed() < STEP_LIMIT {
            self.shop.hasten().await;
            self.mine(1).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // A random moment is what is tested.
        tokio::time::sleep(Duration::from_millis(self.dice.below(400))).await;
    }

    async fn newest_step(&self) -> usize {
        let (quote, _) = self.sold.last().unwrap();
        let state = self.shop.state(quote).await;
        STEPS.iter().position(|step| state["status"] == *step).unwrap_or(0)
    }

    async fn mine(&self, blocks: u64) {
        let _alone = self.changing.lock().await;
        self.shop.devnet.mine(blocks).await.unwrap();
    }

    async fn disturb_chain(&mut self) {
        let choice = self.dice.below(6);
        if choice == 2 {
            return self.sender.send_elsewhere().await;
        }
        let depth = 1 + self.dice.below(REORG_DEPTH);
        let _alone = self.changing.lock().await;
        match choice {
            0 if self.number == 0 => self.shop.devnet.reorganise(depth).await.unwrap(),
            1 if self.number == 0 => drop(self.shop.devnet.call("anvil_dropAllTransactions", json!([])).await.unwrap()),
            _ => {}
        }
    }

    async fn compare(&self, kills: u64) {
        let mut sent: BTreeMap<String, Vec<u128>> = BTreeMap::new();
        for one in self.sender.sent().await {
            let wei = u128::from_str_radix(one["value"].as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
            if wei > 0 {
                sent.entry(one["to"].as_str().unwrap().to_lowercase()).or_default().push(wei);
            }
        }
        for (quote, to) in &self.sold {
            let coins: u128 = self.shop.state(quote).await["fmxOut"].as_str().unwrap().parse().unwrap();
            assert_eq!(sent.remove(&to.address().to_lowercase()), Some(vec![coins]), "{quote}");
        }
        assert_eq!(sent, BTreeMap::new(), "nobody else has coins");
        let left = query(&self.shop.setup, "SELECT state FROM payin_deposits WHERE state <> 'matched'").await;
        let seconds: Vec<Vec<String>> = (0..kills).map(|_| vec!["unmatched".to_owned()]).collect();
        assert_eq!(left, seconds, "what came twice is the operator's");
        self.sender.is_as_the_journal_says(&self.shop.setup).await;
    }
}
