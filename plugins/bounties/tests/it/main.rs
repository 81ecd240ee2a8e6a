//! Bounties in a gateway with agents, on each database, with a scripted chain: one file per operation.

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

use plugin_testing::{Builder, ScriptedChain, ScriptedLog, TestGateway, TestResponse, Value, Wallet, json};
use script::{registered_by, requested_by};
use std::time::Duration;

const BOUNTIES: &str = "/api/bounties";
const LIMIT: Duration = Duration::from_secs(60);

/// A gateway with its own chain. Agent 1 belongs to wallet 11, agent 2 to wallet 12, agent 3 to wallet 11.
struct Site {
    gateway: TestGateway,
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
        let gateway = builder.chain(&chain, &["registry", "escrow"]).start().await;
        gateway.indexed(&chain).await;
        sites.push(Site { gateway, chain });
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
    /// Advances the clock by `seconds`, at least the interval between two writes of one wallet.
    async fn wait(&self, seconds: u64) {
        self.gateway.clock().advance(Duration::from_secs(seconds)).await;
    }

    async fn mine(&self, logs: Vec<ScriptedLog>) {
        self.chain.mine(logs);
        self.gateway.indexed(&self.chain).await;
    }

    /// GETs a path; expects 200 and returns the JSON.
    async fn read(&self, path: &str) -> Value {
        let response = self.gateway.get(path).await;
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        response.json()
    }

    /// Posts a bounty with this title and these further members; returns its id.
    async fn post(&self, title: &str, more: Value) -> i64 {
        id(&self.posted(&poster(), title, more).await)
    }

    async fn posted(&self, poster: &Wallet, title: &str, more: Value) -> Value {
        let mut payload = json!({ "title": title, "brief": "what to do", "rewardWei": "5" });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let response = self.gateway.post_signed(BOUNTIES, poster, "bounty.create", payload).await;
        assert_eq!(response.status, 201, "{}", response.text());
        self.wait(2).await;
        response.json()
    }

    async fn claim(&self, bounty: i64, signer: &Wallet, payload: Value) -> TestResponse {
        let response =
            self.gateway.post_signed(&format!("{BOUNTIES}/{bounty}/claims"), signer, "bounty.claim", payload).await;
        self.wait(2).await;
        response
    }

    async fn award(&self, bounty: i64, signer: &Wallet, payload: Value) -> TestResponse {
        let response =
            self.gateway.post_signed(&format!("{BOUNTIES}/{bounty}/award"), signer, "bounty.award", payload).await;
        self.wait(2).await;
        response
    }

    /// Status, awarded agent and job of a bounty.
    async fn state(&self, bounty: i64) -> (String, Option<i64>, Option<i64>) {
        let read = self.read(&format!("{BOUNTIES}/{bounty}")).await;
        (read["status"].as_str().unwrap().to_owned(), read["awardedAgentId"].as_i64(), read["jobId"].as_i64())
    }

    /// Types and data of the bounty events.
    async fn published(&self) -> Vec<(String, Value)> {
        let events = self.gateway.events().await.into_iter().filter(|event| event.kind.starts_with("bounty."));
        events.map(|event| (event.kind, event.data)).collect()
    }

    async fn restarted(self) -> Self {
        Self { gateway: self.gateway.restart().await, chain: self.chain }
    }

    /// Ends a test: no plugin reported a fault.
    async fn close(self) {
        assert_eq!(self.gateway.faults().await, Vec::<String>::new());
        self.gateway.stop().await;
    }
}

fn refusal(response: &TestResponse) -> (u16, String) {
    assert!(
        !response.json()["error"].as_str().unwrap().is_empty() && !response.json()["hint"].as_str().unwrap().is_empty()
    );
    (response.status, response.code())
}

fn is(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

fn state(status: &str, agent: Option<i64>, job: Option<i64>) -> (String, Option<i64>, Option<i64>) {
    (status.to_owned(), agent, job)
}
