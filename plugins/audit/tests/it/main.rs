//! The export in a gateway with agents, on each database, with a scripted chain: one file per subject.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod chain_logs;
mod contributions;
mod export;
mod get_agent_audit;
mod paging;
mod probe;
mod reorganisation;
#[path = "../../../agents/tests/it/script.rs"]
#[allow(dead_code, reason = "what the contracts of agents say; few of it matters here")]
mod script;

use export::Export;
use plugin_testing::{Builder, ScriptedChain, ScriptedLog, TestGateway, Value, Wallet, json};
use script::registered_by;

/// Every contract of the network.
const CONTRACTS: [&str; 13] = [
    "registry",
    "escrow",
    "x402Vault",
    "accountFactory",
    "accountImpl",
    "streamPay",
    "arbiterPool",
    "identity8004",
    "reputation8004",
    "validation8004",
    "tokenFactory",
    "memoryAnchor",
    "endorsements",
];
/// Number of the wallet with the key that signs.
const SIGNER: u64 = 900;
/// Timestamp of the chain's first block, and time between two.
const CHAIN_START_S: i64 = 1_767_225_600;
const BLOCK_S: i64 = 7;

/// A gateway with its own chain. Agent 1 belongs to wallet 11, agent 2 to wallet 12.
struct Site {
    gateway: TestGateway,
    chain: ScriptedChain,
}

fn owner(agent: u64) -> Wallet {
    Wallet::new(10 + agent)
}

fn agents() -> Vec<ScriptedLog> {
    (1..=2).flat_map(|id| registered_by(id, owner(id).address(), &format!("agent {id}"), "")).collect()
}

async fn builders() -> Vec<Builder> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let quick = |builder: Builder| builder.configure(|config| config.limits.write_interval_ms = 0);
    let with_plugins = |builder: Builder| builder.plugin(agents::plugin_module()).plugin(audit::plugin_module());
    builders.into_iter().map(|builder| with_plugins(quick(builder)).signer("gateway", SIGNER)).collect()
}

async fn sites_with(configure: impl Fn(Builder) -> Builder) -> Vec<Site> {
    let mut sites = Vec::new();
    for builder in builders().await {
        let chain = ScriptedChain::start().await;
        chain.mine(agents());
        let gateway = configure(builder).chain(&chain, &CONTRACTS).start().await;
        gateway.indexed(&chain).await;
        sites.push(Site { gateway, chain });
    }
    sites
}

async fn sites() -> Vec<Site> {
    sites_with(|builder| builder).await
}

impl Site {
    async fn mine(&self, logs: Vec<ScriptedLog>) -> u64 {
        let block = self.chain.mine(logs);
        self.gateway.indexed(&self.chain).await;
        block
    }

    /// An export that must be right in every respect.
    async fn export(&self, agent: u64, query: &str) -> Export {
        let response = self.gateway.get(&path(agent, query)).await;
        assert_eq!(response.status, 200, "{query}: {}", response.text());
        Export::checked(&response)
    }

    /// Ends a test: no plugin reported a fault.
    async fn finish(self) {
        assert_eq!(self.gateway.faults().await, Vec::<String>::new());
        self.gateway.stop().await;
    }
}

fn path(agent: u64, query: &str) -> String {
    format!("/api/agents/{agent}/audit.jsonl?{query}")
}

fn time_of(block: u64) -> i64 {
    CHAIN_START_S + i64::try_from(block).unwrap() * BLOCK_S
}

/// What a line says, without its number.
fn unnumbered(line: &Value) -> Value {
    let mut line = line.clone();
    line.as_object_mut().unwrap().remove("seq");
    line
}

fn named(line: &Value, members: &[&str]) -> Value {
    members.iter().map(|member| line[*member].clone()).collect::<Vec<_>>().into()
}

fn address_of(contract: &str) -> Value {
    json!(ScriptedChain::address_of(contract))
}
