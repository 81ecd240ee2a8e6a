//! Referrals in a gateway, on each database, with a scripted chain: one file per operation, job and contribution.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod configuration;
mod contributions;
mod create_referral;
mod failures;
mod get_referral;
mod limits;
mod list_agent_referrals;
mod list_referrers;
mod pay;
mod release_referral;
mod reorganisation;
mod replicas;
#[path = "../../../agents/tests/it/script.rs"]
#[allow(dead_code, reason = "what the contracts of agents say; few of it matters here")]
mod script;

use plugin_testing::{Builder, ScriptedChain, ScriptedLog, ScriptedTx, TestGateway, TestResponse, Value, Wallet, json};
use script::{completed, delivered, registered_by, requested_by};
use std::time::Duration;

const REFERRALS: &str = "/api/referrals";
const CONTRACTS: [&str; 3] = ["registry", "escrow", "accountFactory"];
/// Number of the wallet with the key of the role growth.
const GROWTH: u64 = 901;
/// Blocks after which one is final.
const DEPTH: u64 = 4;
const MINUTE: Duration = Duration::from_secs(60);
/// 10 FMX: the reward.
const REWARD: &str = "10000000000000000000";
/// 5 FMX: the smallest job that counts.
const JOB: &str = "5000000000000000000";

/// A gateway with its own chain, on which agent 1 belongs to wallet 11, agent 2 to wallet 12 and agent 3 to wallet 11.
struct Site {
    gateway: TestGateway,
    chain: ScriptedChain,
}

/// The owner of the new agent 1, and of agent 3.
fn newcomer() -> Wallet {
    Wallet::new(11)
}

/// The owner of agent 2, which brought it.
fn referrer() -> Wallet {
    Wallet::new(12)
}

fn operator() -> Wallet {
    Wallet::new(99)
}

/// A budget for 1,000 FMX, and an operator.
fn paying() -> Value {
    json!({ "budget_wei": "1000000000000000000000", "operators": [operator().address()] })
}

fn prepared(builder: Builder, chain: &ScriptedChain, config: &Value) -> Builder {
    let builder = builder.plugin(referrals::plugin_module()).config("referrals", config.clone());
    builder.chain(chain, &CONTRACTS).signer("growth", GROWTH).configure(|config| {
        config.limits.write_interval_ms = 0;
        let main = config.chains.get_mut("main").unwrap();
        (main.confirmations, main.reorg_depth) = (2, DEPTH);
    })
}

async fn chain() -> ScriptedChain {
    let chain = ScriptedChain::start().await;
    chain.mine([agent(1, &newcomer()), agent(2, &referrer()), agent(3, &newcomer())].concat());
    chain.set_balance(Wallet::new(GROWTH).address().parse().unwrap(), "1000000000000000000000");
    chain
}

/// A site on each database, one after the other.
async fn each(config: Value, test: impl AsyncFn(&Site)) {
    each_with(config, |builder| builder, test).await;
}

async fn each_with(config: Value, configure: impl Fn(Builder) -> Builder, test: impl AsyncFn(&Site)) {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    for builder in builders {
        let chain = chain().await;
        let gateway = configure(prepared(builder, &chain, &config)).start().await;
        gateway.indexed(&chain).await;
        let site = Site { gateway, chain };
        test(&site).await;
        site.close().await;
    }
}

fn agent(id: u64, owner: &Wallet) -> Vec<ScriptedLog> {
    registered_by(id, owner.address(), &format!("agent {id}"), "")
}

/// A job from request to release, for any client.
fn job(id: u64, agent: u64, client: &str, amount: &str) -> Vec<ScriptedLog> {
    vec![requested_by(id, agent, client, amount, ""), delivered(id, id, ""), completed(id, amount, 5)]
}

/// The same for a client that has nothing to do with the owners.
fn paid_job(id: u64, agent: u64) -> Vec<ScriptedLog> {
    job(id, agent, &script::account(50), JOB)
}

fn account_created(owner: &Wallet, account: &str) -> ScriptedLog {
    let event = "AccountCreated(address indexed owner, address indexed account)";
    ScriptedLog::new("accountFactory", event, &[json!(owner.address()), json!(account)])
}

impl Site {
    async fn mine(&self, logs: Vec<ScriptedLog>) {
        self.chain.mine(logs);
        self.gateway.indexed(&self.chain).await;
    }

    /// Mines blocks until what is mined now is final.
    async fn finalize(&self) {
        self.chain.mine_empty(DEPTH);
        self.gateway.indexed(&self.chain).await;
    }

    async fn claim(&self, wallet: &Wallet, new: i64, referrer: i64) -> TestResponse {
        let payload = json!({ "newAgentId": new, "ref": referrer });
        self.gateway.post_signed(REFERRALS, wallet, "referral.claim", payload).await
    }

    /// Agent 2 brought agent 1.
    async fn claimed(&self) {
        let response = self.claim(&newcomer(), 1, 2).await;
        assert_eq!(response.status, 201, "{}", response.text());
    }

    /// Agents from number 101 on, each of its own owner, which agent 2 brought and which have done a final job.
    async fn claimed_by_many(&self, count: u64) {
        for id in 101..101 + count {
            self.chain.mine(agent(id, &Wallet::new(id)));
        }
        self.gateway.indexed(&self.chain).await;
        for id in 101..101 + count {
            let response = self.claim(&Wallet::new(id), id.cast_signed(), 2).await;
            assert_eq!(response.status, 201, "{}", response.text());
            self.chain.mine(paid_job(id, id));
        }
        self.finalize().await;
    }

    async fn release(&self, wallet: &Wallet, agent: i64, payload: Value) -> TestResponse {
        self.gateway.clock().advance(Duration::from_secs(1)).await;
        let mut payload = payload;
        payload["newAgentId"] = json!(agent);
        self.gateway.post_signed(&format!("{REFERRALS}/payouts/release"), wallet, "referral.release", payload).await
    }

    /// GETs a path; expects 200 and returns the JSON.
    async fn read(&self, path: &str) -> Value {
        let response = self.gateway.get(path).await;
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        response.json()
    }

    async fn referral(&self, agent: i64) -> Value {
        self.read(&format!("{REFERRALS}/{agent}")).await
    }

    async fn status(&self, agent: i64) -> String {
        self.referral(agent).await["status"].as_str().unwrap().to_owned()
    }

    async fn service(&self) -> Value {
        self.gateway.collect("status", &json!({})).await["referrals"]["referrals"].clone()
    }

    /// Lets a run of the job that pays begin and end.
    async fn after_run(&self) {
        let runs = async || -> i64 {
            let rows = "SELECT runs FROM host_job_runs WHERE plugin = 'referrals' AND job = 'pay'";
            let rows = self.gateway.rows(rows).await;
            let digits = rows.first().map(|row| row.replace(|character: char| !character.is_ascii_digit(), ""));
            digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
        };
        let before = runs().await;
        self.until("the job runs twice", async || runs().await >= before + 2).await;
    }

    /// Lets time pass until a condition holds.
    async fn until(&self, what: &str, holds: impl AsyncFn() -> bool) {
        let waits = async {
            while !holds().await {
                self.gateway.clock().advance(Duration::from_secs(5)).await;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let in_time = tokio::time::timeout(MINUTE, waits).await;
        assert!(in_time.is_ok(), "{what}: not within {MINUTE:?}");
    }

    /// Lets time pass until so many transactions wait to be mined.
    async fn waits(&self, count: usize) -> Vec<ScriptedTx> {
        self.until("transfers are sent", async || self.chain.waiting().len() == count).await;
        self.chain.waiting()
    }

    /// Mines what waits, and lets time pass until a referral has this status.
    async fn becomes(&self, agent: i64, status: &str) {
        self.chain.mine_empty(1 + DEPTH);
        self.gateway.indexed(&self.chain).await;
        self.until(&format!("agent {agent} is {status}"), async || self.status(agent).await == status).await;
    }

    /// What an address was paid on the chain: how often, each time a reward.
    fn rewards_of(&self, address: &str) -> usize {
        let mined = self.chain.mined();
        let to_it = mined.iter().filter(|tx| tx.to.to_string() == address && tx.value.to_string() == REWARD);
        to_it.count()
    }

    /// Types and data of the referral events.
    async fn published(&self) -> Vec<(String, Value)> {
        let events = self.gateway.events().await.into_iter().filter(|event| event.kind.starts_with("referral."));
        events.map(|event| (event.kind, event.data)).collect()
    }

    /// Ends a test: no plugin reported a fault.
    async fn close(self) {
        assert_eq!(self.gateway.faults().await, Vec::<String>::new());
        self.gateway.stop().await;
    }
}

fn refusal(response: &TestResponse) -> (u16, String) {
    assert!(!response.json()["error"].as_str().unwrap().is_empty(), "{}", response.text());
    (response.status, response.code())
}

fn is(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}
