//! SIGKILL at random times while calls are sold and settled, with reorganisations in between.
//!
//! The rule that is tested: a client whose answer came is charged once, nobody pays for work that failed, and no agent works twice for
//! one voucher. Whoever lost the answer may have been charged, because the work may have been done.

use super::{FMX, Market, PRICE, Payment, Till, agent, until, wei};
use crate::crash::{Dice, execute, expire_leases, many_kills, status_of};
use alloy_primitives::U256;
use futures_util::future::join_all;
use plugin_testing::{Value, json};
use reqwest::StatusCode;
use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};
use wiremock::ResponseTemplate;

/// On each database. `cargo xtask kills` sets another number.
const KILLS: u64 = 5;
const PAYMENTS_PER_RUN: u64 = 5;
/// Shallower than the deposits of the payers.
const REORG_DEPTH: u64 = 3;
const AGENTS: [&str; 3] = ["echo", "slow", "broken"];
/// The payers' deposits. A run sells five calls at most.
const DEPOSIT: u128 = 10 * FMX;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_few_kills_charge_what_was_delivered_and_nothing_twice() {
    kill_repeatedly(KILLS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo xtask kills"]
async fn many_kills_charge_what_was_delivered_and_nothing_twice() {
    kill_repeatedly(many_kills()).await;
}

async fn kill_repeatedly(kills: u64) {
    let (done, slow) = (ResponseTemplate::new(200).set_body_string("done"), Duration::from_millis(40));
    let answers = [done.clone(), done.set_delay(slow), ResponseTemplate::new(500)];
    let agents: Vec<_> = AGENTS.into_iter().zip(answers).map(|(name, answer)| agent(name, answer)).collect();
    let market = Market::open(&agents).await;
    let (dice, started) = (Dice::new(), Instant::now());
    let adjust = |setup: gateway_tests::process::Setup| {
        let setup = setup.set("plugins.x402.batch_size", 3).set("plugins.x402.batch_s", 2);
        setup.set("plugins.x402.credit_max_wei", DEPOSIT)
    };
    let tills = market.tills(adjust).await;
    let mut payers = Vec::new();
    for till in &tills {
        let payer = till.payer(&market, 0).await;
        market.deposit(payer, DEPOSIT - FMX).await;
        payers.push(payer);
    }
    market.devnet.mine(2 * REORG_DEPTH).await.unwrap();
    let runs = tills.into_iter().zip(payers).zip(0..).map(|((till, payer), number)| {
        let (market, dice) = (&market, dice.fork(number));
        async move { PaymentKillRun { market, till, payer, dice, sales: Vec::new() }.finish(kills, number == 0).await }
    });
    for tally in join_all(runs).await {
        eprintln!("{kills} kills in {:?}: {tally:?}", started.elapsed());
        // Runs that sell nothing, or lose no answer, prove nothing.
        assert!(tally.served > 0 && tally.failed > 0 && tally.without_answer > 0, "{tally:?}");
    }
}

/// A voucher that was sent, and what its clients heard.
struct VoucherSale {
    payment: Payment,
    agent: &'static str,
    /// Whole answers with 200.
    served: usize,
    refused: usize,
    /// Requests whose connection broke.
    without_answer: usize,
}

#[derive(Debug, Default)]
struct VoucherCounts {
    served: usize,
    failed: usize,
    without_answer: usize,
    /// The answer got lost, not the work.
    charged_without_answer: usize,
}

struct PaymentKillRun<'m> {
    market: &'m Market,
    till: Till,
    payer: &'static str,
    dice: Dice,
    sales: Vec<VoucherSale>,
}

impl PaymentKillRun<'_> {
    /// `disturbs` says whether it is the one that changes the chain, which all runs share.
    async fn finish(mut self, kills: u64, disturbs: bool) -> VoucherCounts {
        for _ in 0..kills {
            self.sell_until_killed().await;
            if disturbs {
                self.disturb_chain().await;
            }
            self.till.start_again().await;
        }
        self.settle_the_rest().await;
        self.compare().await
    }

    async fn sell_until_killed(&mut self) {
        let mut payments = Vec::new();
        for _ in 0..PAYMENTS_PER_RUN {
            let agent = AGENTS[usize::try_from(self.dice.below(AGENTS.len() as u64)).unwrap()];
            // A client that sends one voucher twice at the same time.
            let copies = if self.dice.below(4) == 0 { 2 } else { 1 };
            payments.push((agent, Payment::by(self.market, &self.till, self.payer).await, copies));
        }
        let answered = AtomicU64::new(0);
        let (answers, moment) = (self.dice.below(PAYMENTS_PER_RUN), Duration::from_micros(self.dice.below(60_000)));
        let requests = payments.iter().map(|(agent, payment, copies)| {
            let copies: Vec<_> = (0..*copies).map(|_| self.till.invocation(agent, Some(payment))).collect();
            join_all(copies.into_iter().map(|request| status_of(request, &answered)))
        });
        let selling: Vec<_> = requests.collect();
        let killed = async {
            // At the latest when all have their answer.
            while answered.load(Relaxed) < answers {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            // A random moment is what is tested.
            tokio::time::sleep(moment).await;
        };
        let gateway = &mut self.till.gateway;
        let (sold, ()) = tokio::join!(join_all(selling), async {
            killed.await;
            gateway.kill().await.unwrap();
        });
        for ((agent, payment, _), answers) in payments.into_iter().zip(sold) {
            let served = answers.iter().filter(|answer| **answer == Some(StatusCode::OK)).count();
            let without_answer = answers.iter().filter(|answer| answer.is_none()).count();
            let refused = answers.len() - served - without_answer;
            self.sales.push(VoucherSale { payment, agent, served, refused, without_answer });
        }
    }

    async fn disturb_chain(&mut self) {
        match self.dice.below(4) {
            0 => {
                let depth = 1 + self.dice.below(REORG_DEPTH);
                self.market.devnet.reorganise(depth).await.unwrap();
            }
            1 => drop(self.market.devnet.call("anvil_dropAllTransactions", json!([])).await.unwrap()),
            blocks => self.market.devnet.mine(blocks).await.unwrap(),
        }
    }

    /// The time of what was reserved passes while the gateway is off; then everything that was kept is settled.
    async fn settle_the_rest(&mut self) {
        self.till.gateway.kill().await.unwrap();
        let passed = "UPDATE x402_vouchers SET until_s = until_s - 3600 WHERE until_s IS NOT NULL";
        execute(&self.till.setup, passed.to_owned()).await;
        expire_leases(&self.till.setup).await;
        self.till.start_again().await;
        let address = self.market.account(self.payer);
        let ends = async || {
            let account = self.till.account(address).await;
            account["pendingWei"] == "0" && account["vouchers"].as_array().unwrap().iter().all(is_decided)
        };
        let begun = Instant::now();
        while !ends().await {
            assert!(begun.elapsed() < Duration::from_secs(90), "{}", self.till.account(address).await);
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    async fn compare(self) -> VoucherCounts {
        let address = self.market.account(self.payer);
        let settled: BTreeSet<u64> = {
            let rows = self.till.rows("SELECT payer, nonce FROM x402_settled").await;
            rows.iter().filter(|row| row[0] == address).map(|row| row[1].parse().unwrap()).collect()
        };
        let mut tally = VoucherCounts::default();
        for VoucherSale { payment, agent, served, refused, without_answer } in &self.sales {
            let (nonce, calls) = (payment.voucher.nonce, self.market.calls_for(payment).await);
            let is_settled = settled.contains(&nonce);
            let case = format!(
                "voucher {nonce} for {agent}: served {served}, refused {refused}, without an answer {without_answer}, {calls} \
                 calls, settled {is_settled}"
            );
            assert!(*served <= 1 && calls <= 1, "one voucher, one call: {case}");
            assert!(*served == 0 || is_settled, "what was served is paid: {case}");
            assert!(!is_settled || (*agent != "broken" && calls == 1), "only work is paid: {case}");
            assert!(!is_settled || *served + *without_answer > 0, "who was refused pays nothing: {case}");
            tally.served += served;
            tally.failed += usize::from(*agent == "broken" && *refused > 0);
            tally.without_answer += without_answer;
            tally.charged_without_answer += usize::from(is_settled && *served == 0);
        }
        let spent = wei(PRICE) * U256::from(settled.len());
        let is_paid = async || self.market.balance(self.payer).await == wei(DEPOSIT) - spent;
        until("the vault has what the ledger says", is_paid).await;
        tally
    }
}

/// Nothing more can become of it.
fn is_decided(voucher: &Value) -> bool {
    ["settled", "voided", "failed", "skipped"].iter().any(|status| voucher["status"] == *status)
}
