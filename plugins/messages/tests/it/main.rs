//! Messages in a gateway with agents, on each database, with a scripted chain: one file per operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod contributions;
mod create_message;
mod forward_message;
mod list_inbox;
#[path = "../../../agents/tests/it/script.rs"]
#[allow(dead_code, reason = "what the contracts of agents say; few of it matters here")]
mod script;

use plugin_testing::{ScriptedChain, ScriptedLog, TestGateway, TestResponse, Value, Wallet, json};
use std::time::Duration;

const MESSAGES: &str = "/api/messages";
const LIMIT: Duration = Duration::from_secs(60);

/// A gateway with its own chain.
struct Site {
    gateway: TestGateway,
    chain: ScriptedChain,
}

/// One site per database, with these blocks mined and indexed. Agents may have endpoints on this machine.
async fn sites(blocks: Vec<Vec<ScriptedLog>>) -> Vec<Site> {
    sites_with(16, blocks).await
}

/// The same with so many outbound requests at a time.
async fn sites_with(concurrency: usize, blocks: Vec<Vec<ScriptedLog>>) -> Vec<Site> {
    sites_reaching(&["127.0.0.1", "localhost"], concurrency, blocks).await
}

/// The same, and agents may have endpoints on these hosts only.
async fn sites_reaching(hosts: &[&str], concurrency: usize, blocks: Vec<Vec<ScriptedLog>>) -> Vec<Site> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let mut sites = Vec::new();
    for builder in builders {
        let chain = ScriptedChain::start().await;
        for logs in &blocks {
            chain.mine(logs.clone());
        }
        let builder = builder.plugin(agents::plugin_module()).plugin(messages::plugin_module());
        let builder = builder.configure(|config| {
            config.egress.allow_hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
            config.egress.per_plugin_concurrency = concurrency;
        });
        let gateway = builder.chain(&chain, &["registry", "escrow"]).start().await;
        gateway.indexed(&chain).await;
        sites.push(Site { gateway, chain });
    }
    sites
}

impl Site {
    /// Advances the clock by `seconds`, at least the interval between two writes of one wallet.
    async fn wait(&self, seconds: u64) {
        self.gateway.clock().advance(Duration::from_secs(seconds)).await;
    }

    async fn post(&self, sender: &Wallet, payload: Value) -> TestResponse {
        self.gateway.post_signed(MESSAGES, sender, "message.send", payload).await
    }

    /// Sends a message; returns it.
    async fn send(&self, sender: &Wallet, payload: Value) -> Value {
        let response = self.post(sender, payload).await;
        assert_eq!(response.status, 201, "{}", response.text());
        response.json()
    }

    /// The wallet's inbox, with these further members of the query.
    async fn inbox(&self, wallet: &Wallet, more: &str) -> Value {
        let signed = wallet.signed_query("inbox.read", self.gateway.now_s());
        let response = self.gateway.get(&format!("{MESSAGES}/inbox?{signed}{more}")).await;
        assert_eq!(response.status, 200, "{}", response.text());
        response.json()
    }

    async fn mine(&self, logs: Vec<ScriptedLog>) {
        self.chain.mine(logs);
        self.gateway.indexed(&self.chain).await;
    }

    /// Ends a test: no plugin reported a fault.
    async fn close(self) {
        assert_eq!(self.gateway.faults().await, Vec::<String>::new());
        self.gateway.stop().await;
    }
}

fn nameless(wallet: &Wallet) -> Value {
    json!({ "address": wallet.address(), "name": null, "agentId": null })
}

fn named(wallet: &Wallet, name: &str, agent: i64) -> Value {
    json!({ "address": wallet.address(), "name": name, "agentId": agent })
}
