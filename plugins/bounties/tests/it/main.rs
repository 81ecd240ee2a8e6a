//! Bounties behind a gateway with agents, on each database, with a chain that the test writes: one file per operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod announce_outcomes;
mod award_bounty;
mod claim_bounty;
mod contributions;
mod create_bounty;
mod get_bounty;
mod list_bounties;
mod reorganisation;
#[path = "../../../agents/tests/it/script.rs"]
#[allow(dead_code, reason = "what the contracts of agents say; few of it matters here")]
mod script;

use plugin_testing::{Answer, Builder, ScriptedChain, ScriptedLog, TestGateway, Value, Wallet, json};
use script::{registered_by, requested_by};
use std::time::Duration;

const BOUNTIES: &str = "/api/bounties";
const LIMIT: Duration = Duration::from_secs(60);

/// A gateway with a chain of its own. Agent 1 belongs to wallet 11, agent 2 to wallet 12, agent 3 to wallet 11.
struct Site {
    house: TestGateway,
    chain: ScriptedChain,
}

fn poster() -> Wallet {
    Wallet::new(1)
}

fn owner(agent: u64) -> Wallet {
    Wallet::new(if agent == 2 { 12 } else { 11 })
}

fn agents() -> Vec<ScriptedLog> {
    let logs = (1..=3).flat_map(|id| registered_by(id, owner(id).address(), &format!("agent {id}"), ""));
    logs.collect()
}

async fn sites() -> Vec<Site> {
    sites_with(|builder| builder).await
}

async fn sites_with(configure: impl Fn(Builder) -> Builder) -> Vec<Site> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let mut sites = Vec::new();
    for builder in builders {
        let chain = ScriptedChain::start().await;
        chain.mine(agents());
        let builder = configure(builder.plugin(agents::plugin_module()).plugin(bounties::plugin_module()));
        let house = builder.chain(&chain, &["registry", "escrow"]).start().await;
        house.indexed(&chain).await;
        sites.push(Site { house, chain });
    }
    sites
}

/// A job of the poster that cites the bounty.
fn citing(job: u64, agent: u64, bounty: i64) -> ScriptedLog {
    requested_by(job, agent, poster().address(), "5", &format!("fmx://bounty/{bounty}"))
}

fn id(record: &Value) -> i64 {
    record["id"].as_i64().expect("a record has an id")
}

impl Site {
    /// Lets the interval between two writes of one wallet pass, and more.
    async fn wait(&self, seconds: u64) {
        self.house.clock().advance(Duration::from_secs(seconds)).await;
    }

    async fn mine(&self, logs: Vec<ScriptedLog>) {
        self.chain.mine(logs);
        self.house.indexed(&self.chain).await;
    }

    /// What a GET answers with 200.
    async fn read(&self, path: &str) -> Value {
        let answer = self.house.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }

    /// Posts a bounty that is told from others by its title, with these further members; answers its id.
    async fn post(&self, title: &str, more: Value) -> i64 {
        id(&self.posted(&poster(), title, more).await)
    }

    async fn posted(&self, poster: &Wallet, title: &str, more: Value) -> Value {
        let mut payload = json!({ "title": title, "brief": "what to do", "rewardWei": "5" });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = self.house.post_signed(BOUNTIES, poster, "bounty.create", payload).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        self.wait(2).await;
        answer.json()
    }

    async fn claim(&self, bounty: i64, signer: &Wallet, payload: Value) -> Answer {
        let answer =
            self.house.post_signed(&format!("{BOUNTIES}/{bounty}/claims"), signer, "bounty.claim", payload).await;
        self.wait(2).await;
        answer
    }

    async fn award(&self, bounty: i64, signer: &Wallet, payload: Value) -> Answer {
        let answer =
            self.house.post_signed(&format!("{BOUNTIES}/{bounty}/award"), signer, "bounty.award", payload).await;
        self.wait(2).await;
        answer
    }

    /// Status, awarded agent and job of a bounty.
    async fn state(&self, bounty: i64) -> (String, Option<i64>, Option<i64>) {
        let read = self.read(&format!("{BOUNTIES}/{bounty}")).await;
        (read["status"].as_str().unwrap().to_owned(), read["awardedAgentId"].as_i64(), read["jobId"].as_i64())
    }

    /// Types and data of the events about bounties.
    async fn told(&self) -> Vec<(String, Value)> {
        let events = self.house.events().await.into_iter().filter(|event| event.kind.starts_with("bounty."));
        events.map(|event| (event.kind, event.data)).collect()
    }

    async fn restarted(self) -> Self {
        Self { house: self.house.restart().await, chain: self.chain }
    }

    /// Nothing went wrong inside.
    async fn close(self) {
        assert_eq!(self.house.faults().await, Vec::<String>::new());
        self.house.stop().await;
    }
}

fn refusal(answer: &Answer) -> (u16, String) {
    assert!(
        !answer.json()["error"].as_str().unwrap().is_empty() && !answer.json()["hint"].as_str().unwrap().is_empty()
    );
    (answer.status, answer.code())
}

fn is(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

fn state(status: &str, agent: Option<i64>, job: Option<i64>) -> (String, Option<i64>, Option<i64>) {
    (status.to_owned(), agent, job)
}
