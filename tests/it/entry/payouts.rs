//! SIGKILL at random times while rewards of referrals are recorded and sent, with reorganisations, transactions that the pool loses, and
//! another sender that uses the same key.
//!
//! The rule that is tested: both owners of a paid referral have their reward once, of all others nobody has one, and all rewards together
//! are within the budget.

use super::sender::Sender;
use crate::{
    crash::{Dice, execute, expire_leases, many_kills, query},
    e2e::{Site, setup_on_devnet},
    storage::Engine,
};
use futures_util::future::join_all;
use gateway_tests::{
    devnet::Devnet,
    process::{GatewayProcess, LIMIT, Setup},
};
use plugin_testing::{TestGateway, Wallet, json};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// On each database. `cargo xtask kills` sets another number.
const KILLS: u64 = 3;
/// Agents whose first job is completed before each kill.
const COMPLETED_PER_RUN: u64 = 2;
/// Referrals that the budget has no room for.
const UNPAID: u64 = 2;
/// Shallower than what the gateway holds for final.
const REORG_DEPTH: u64 = 3;
const FINAL_DEPTH: u64 = 8;
/// Until everything that the budget has room for is paid.
const END: Duration = Duration::from_secs(150);
/// How long a kill waits for a step, where nothing is left to be done.
const STEP: Duration = Duration::from_secs(15);

/// In wei: of each owner, and what a job pays.
const REWARD: u128 = 1_000_000_000_000_000_000;
const BOND: u128 = 100 * REWARD;
const REGISTER: &str = "register(string name, string endpoint, string metadataURI, uint256 pricePerJob)";
const REQUEST: &str = "requestJob(uint256 agentId, bytes32 inputHash, string inputURI)";
const DELIVER: &str = "deliver(uint256 jobId, bytes32 outputHash, string outputURI)";
const RELEASE: &str = "release(uint256 jobId, uint8 rating)";
const HASH: &str = "0x0000000000000000000000000000000000000000000000000000000000000007";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_few_kills_pay_no_reward_twice_and_none_beyond_the_budget() {
    kill_repeatedly(KILLS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: cargo xtask kills"]
async fn many_kills_pay_no_reward_twice_and_none_beyond_the_budget() {
    kill_repeatedly(many_kills()).await;
}

async fn kill_repeatedly(kills: u64) {
    let devnet = Devnet::start().await.unwrap();
    let (dice, started) = (Dice::new(), Instant::now());
    // One after the other: the contracts count agents and jobs.
    let sqlite = PayoutRun::begin(&devnet, Engine::Sqlite, dice.fork(0), kills).await;
    let postgres = PayoutRun::begin(&devnet, Engine::Postgres, dice.fork(1), kills).await;
    join_all([sqlite, postgres].map(|run| run.finish(kills))).await;
    eprintln!("{kills} kills in {:?}", started.elapsed());
}

/// An agent that another one brought, and its only job.
struct Referral {
    owner: Wallet,
    agent: u64,
    job: u64,
}

struct PayoutRun<'n> {
    devnet: &'n Devnet,
    setup: Setup,
    gateway: GatewayProcess,
    sender: Sender<'n>,
    /// The test key that pays the jobs.
    client: &'static str,
    referrer: Wallet,
    referrals: Vec<Referral>,
    dice: Dice,
    /// One of the runs changes the chain, which both share.
    reorganises: bool,
}

impl<'n> PayoutRun<'n> {
    async fn begin(devnet: &'n Devnet, engine: Engine, dice: Dice, kills: u64) -> Self {
        let (payer, client, reorganises) = match engine {
            Engine::Sqlite => ("growth", "user2", true),
            Engine::Postgres => ("facilitator", "user3", false),
        };
        let first = if reorganises { 80_000 } else { 90_000 };
        let count = kills * COMPLETED_PER_RUN;
        let referrer = Wallet::new(first);
        let referring = register(devnet, &referrer).await;
        let mut referrals = Vec::new();
        for number in 1..=count {
            let owner = Wallet::new(first + number);
            let agent = register(devnet, &owner).await;
            let job = deliver_job(devnet, client, &owner, agent).await;
            referrals.push(Referral { owner, agent, job });
        }
        let budget = u128::from(count - UNPAID) * 2 * REWARD;
        let setup = setup_on_devnet(devnet, engine, &["agents", "referrals"], ("growth", payer)).await;
        let setup = setup
            .set("plugins.referrals.reward_wei", format!("\"{REWARD}\""))
            .set("plugins.referrals.min_job_wei", format!("\"{REWARD}\""))
            .set("plugins.referrals.budget_wei", format!("\"{budget}\""))
            .set("plugins.referrals.paid_per_referrer_per_day", 100_000)
            .set("plugins.referrals.paid_per_day", 100_000)
            .set("plugins.referrals.unreleased_per_day", 100_000)
            .set("limits.per_ip_per_minute", 100_000)
            .set("chains.main.reorg_depth", FINAL_DEPTH);
        let gateway = setup.start().await.unwrap();
        let sender = Sender::new(devnet, payer);
        let run = Self { devnet, setup, gateway, sender, client, referrer, referrals, dice, reorganises };
        run.claim_all(referring).await;
        run
    }

    async fn claim_all(&self, referring: u64) {
        let site = Site::of(&self.gateway);
        for Referral { owner, agent, .. } in &self.referrals {
            TestGateway::eventually(LIMIT, "the agent is indexed, and its owner claims", async || {
                let claim = json!({ "newAgentId": agent, "ref": referring });
                let answer = site.write("/api/referrals", owner, "referral.claim", claim).await;
                assert!(matches!(answer.status, 201 | 404), "{}", answer.text());
                answer.status == 201
            })
            .await;
        }
    }

    async fn finish(mut self, kills: u64) {
        for kill in 0..kills {
            let from = usize::try_from(kill * COMPLETED_PER_RUN).unwrap();
            let to = from + usize::try_from(COMPLETED_PER_RUN).unwrap();
            self.complete(from..to).await;
            self.disturb_chain().await;
            self.devnet.mine(FINAL_DEPTH).await.unwrap();
            self.let_it_work().await;
            self.kill_and_start().await;
        }
        let paid = self.referrals.len() - usize::try_from(UNPAID).unwrap();
        let begun = Instant::now();
        while self.claims("paid").await < paid {
            assert!(begun.elapsed() < END, "{:?}", self.progress().await);
            // A reorganisation may have taken a completion with it. One that is complete already is refused.
            self.complete(0..self.referrals.len()).await;
            self.devnet.mine(FINAL_DEPTH).await.unwrap();
            self.let_it_work().await;
            self.kill_and_start().await;
        }
        self.kill_and_start().await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        self.compare(paid).await;
    }

    async fn complete(&self, which: std::ops::Range<usize>) {
        for Referral { job, .. } in &self.referrals[which] {
            let hash = self.devnet.send(self.client, "escrow", RELEASE, &[&job.to_string(), "5"], 0).await.unwrap();
            self.devnet.included(&hash).await.unwrap();
        }
    }

    async fn disturb_chain(&mut self) {
        match self.dice.below(6) {
            0 | 1 if self.reorganises => {
                let depth = 1 + self.dice.below(REORG_DEPTH);
                self.devnet.reorganise(depth).await.unwrap();
            }
            2 if self.reorganises => {
                drop(self.devnet.call("anvil_dropAllTransactions", json!([])).await.unwrap());
            }
            3 => self.sender.send_elsewhere().await,
            _ => {}
        }
    }

    /// Until a claim or a transfer has come a step further, and a random moment longer: one that is killed after some time gets
    /// nowhere on a busy machine.
    async fn let_it_work(&mut self) {
        let (before, begun) = (self.progress().await, Instant::now());
        while self.progress().await == before && begun.elapsed() < STEP {
            self.hasten().await;
            self.devnet.mine(1).await.unwrap();
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        // A random moment is what is tested.
        tokio::time::sleep(Duration::from_millis(self.dice.below(600))).await;
    }

    async fn progress(&self) -> Vec<Vec<String>> {
        let steps = "SELECT c.state || ' ' || coalesce(c.reason, '') || ' ' || coalesce(t.state, '') FROM referrals_claims c \
            LEFT JOIN referrals_transfers t ON t.new_agent = c.new_agent ORDER BY 1";
        query(&self.setup, steps).await
    }

    async fn kill_and_start(&mut self) {
        self.gateway.kill().await.unwrap();
        expire_leases(&self.setup).await;
        self.hasten().await;
        self.gateway = self.setup.start().await.unwrap();
    }

    /// Has its jobs run soon, for every claim that is open.
    async fn hasten(&self) {
        let due = "UPDATE host_job_runs SET next_run_ms = 1 WHERE plugin = 'referrals' AND (lease_holder IS NULL OR lease_until_ms = 0)";
        execute(&self.setup, due.to_owned()).await;
        execute(&self.setup, "UPDATE referrals_claims SET retry_at = 0 WHERE state = 'open'".to_owned()).await;
    }

    async fn claims(&self, state: &str) -> usize {
        let states = query(&self.setup, "SELECT state FROM referrals_claims").await;
        states.iter().filter(|row| row[0] == state).count()
    }

    async fn compare(&self, paid: usize) {
        assert_eq!((self.claims("paid").await, self.claims("sent").await), (paid, 0));
        let mut rewards: BTreeMap<String, usize> = BTreeMap::new();
        for sent in self.sender.sent().await.iter().filter(|sent| sent["value"] == format!("{REWARD:#x}").as_str()) {
            *rewards.entry(sent["to"].as_str().unwrap().to_lowercase()).or_default() += 1;
        }
        let mut of = |owner: &Wallet| rewards.remove(&owner.address().to_lowercase()).unwrap_or_default();
        let of_new: Vec<usize> = self.referrals.iter().map(|referral| of(&referral.owner)).collect();
        assert!(of_new.iter().all(|rewards| *rewards <= 1), "{of_new:?}");
        assert_eq!((of_new.iter().sum::<usize>(), of(&self.referrer)), (paid, paid), "the budget, both sides of each");
        assert_eq!(rewards, BTreeMap::new(), "nobody else has one");
        self.sender.is_as_the_journal_says(&self.setup).await;
    }
}

/// The next agent of the registry.
async fn register(devnet: &Devnet, owner: &Wallet) -> u64 {
    devnet.impersonate(owner.address()).await.unwrap();
    let hash = devnet
        .send_from(owner.address(), "registry", REGISTER, &["Agent", "https://agent.example", "", "1"], BOND)
        .await
        .unwrap();
    id_in_log(devnet, &hash, "registry").await
}

/// A job that its client has only to release.
async fn deliver_job(devnet: &Devnet, client: &str, owner: &Wallet, agent: u64) -> u64 {
    let request = [&agent.to_string(), HASH, "ipfs://input"];
    let hash = devnet.send(client, "escrow", REQUEST, &request, REWARD).await.unwrap();
    let job = id_in_log(devnet, &hash, "escrow").await;
    let delivery = [&job.to_string(), HASH, "ipfs://output"];
    let hash = devnet.send_from(owner.address(), "escrow", DELIVER, &delivery, 0).await.unwrap();
    devnet.included(&hash).await.unwrap();
    job
}

/// The first indexed value of the event that the contract wrote in this transaction.
async fn id_in_log(devnet: &Devnet, hash: &str, contract: &str) -> u64 {
    devnet.included(hash).await.unwrap();
    let receipt = devnet.call("eth_getTransactionReceipt", json!([hash])).await.unwrap();
    let address = devnet.facts.contracts[contract].to_string().to_lowercase();
    let logs = receipt["logs"].as_array().unwrap();
    let log = logs.iter().find(|log| log["address"].as_str().unwrap().to_lowercase() == address).expect("it worked");
    u64::from_str_radix(log["topics"][1].as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}
