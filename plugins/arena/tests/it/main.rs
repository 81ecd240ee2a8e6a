//! The arena in a gateway with agents and payloads, on each database, with a scripted chain: one file per operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod announce_awards;
mod award_challenge;
mod contributions;
mod create_challenge;
mod create_submission;
mod fixture;
mod get_challenge;
mod list_challenges;
mod replicas;
mod vote_submission;

use fixture::registered;
use plugin_testing::{Builder, ScriptedChain, ScriptedLog, TestGateway, TestResponse, Value, Wallet, json};
use std::time::Duration;

const CHALLENGES: &str = "/api/arena/challenges";
const HOUR: i64 = 3600;
const CONTRACTS: [&str; 2] = ["registry", "escrow"];

/// A gateway with its own chain. Agents 1 and 3 belong to wallet 11, agent 2 to wallet 12.
struct Site {
    gateway: TestGateway,
    chain: ScriptedChain,
}

fn creator() -> Wallet {
    Wallet::new(1)
}

fn owner(agent: u64) -> Wallet {
    Wallet::new(if agent == 2 { 12 } else { 11 })
}

fn plugins(builder: Builder) -> Builder {
    let plugins = [agents::plugin_module(), payloads::plugin_module(), arena::plugin_module()];
    plugins.into_iter().fold(builder, Builder::plugin)
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
        chain.mine((1..=3).flat_map(|id| registered(id, owner(id).address())).collect());
        let gateway = configure(plugins(builder)).chain(&chain, &CONTRACTS).start().await;
        gateway.indexed(&chain).await;
        sites.push(Site { gateway, chain });
    }
    sites
}

fn id(record: &Value) -> i64 {
    record["id"].as_i64().expect("a record has an id")
}

fn author(wallet: &Wallet) -> Value {
    json!({ "address": wallet.address(), "name": null, "agentId": null })
}

fn refusal(response: &TestResponse) -> (u16, String) {
    let body = response.json();
    assert!(!body["error"].as_str().unwrap_or_default().is_empty(), "{}", response.text());
    (response.status, response.code())
}

fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

impl Site {
    async fn wait(&self, seconds: i64) {
        self.gateway.clock().advance(Duration::from_secs(seconds.unsigned_abs())).await;
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

    async fn challenge(&self, challenge: i64) -> Value {
        self.read(&format!("{CHALLENGES}/{challenge}")).await
    }

    /// Opens a challenge of one hour with this title and these further members; returns its detail.
    async fn opened(&self, title: &str, more: Value) -> Value {
        let mut payload = json!({ "title": title, "brief": "what to do", "endsAt": self.gateway.now_s() + HOUR });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let response = self.gateway.post_signed(CHALLENGES, &creator(), "arena.create", payload).await;
        assert_eq!(response.status, 201, "{}", response.text());
        self.wait(2).await;
        response.json()
    }

    async fn open(&self, title: &str) -> i64 {
        id(&self.opened(title, json!({})).await)
    }

    async fn submit(&self, challenge: i64, submitter: &Wallet, payload: Value) -> TestResponse {
        let path = format!("{CHALLENGES}/{challenge}/submissions");
        self.gateway.post_signed(&path, submitter, "arena.submit", payload).await
    }

    /// Submits a URL; returns the id of the submission.
    async fn submitted(&self, challenge: i64, submitter: &Wallet) -> i64 {
        let response = self.submit(challenge, submitter, json!({ "url": "https://a.example" })).await;
        assert_eq!(response.status, 201, "{}", response.text());
        id(&response.json())
    }

    async fn vote(&self, submission: i64, voter: &Wallet, score: Value) -> TestResponse {
        let path = format!("/api/arena/submissions/{submission}/vote");
        self.gateway.post_signed(&path, voter, "arena.vote", json!({ "score": score })).await
    }

    async fn voted(&self, submission: i64, voter: &Wallet, score: i64) -> Value {
        let response = self.vote(submission, voter, json!(score)).await;
        assert_eq!(response.status, 200, "{}", response.text());
        response.json()
    }

    async fn award(&self, challenge: i64, signer: &Wallet, payload: Value) -> TestResponse {
        let path = format!("{CHALLENGES}/{challenge}/award");
        let response = self.gateway.post_signed(&path, signer, "arena.award", payload).await;
        self.wait(2).await;
        response
    }

    /// Data of the published events of a type.
    async fn published(&self, kind: &str) -> Vec<Value> {
        let events = self.gateway.events().await.into_iter().filter(|event| event.kind == kind);
        events.map(|event| event.data).collect()
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
