//! Messages behind a gateway with agents, on each database, with a chain that the test writes: one file per operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod contributions;
mod create_message;
mod forward_messages;
mod list_inbox;
#[path = "../../../agents/tests/it/script.rs"]
#[allow(dead_code, reason = "what the contracts of agents say; few of it matters here")]
mod script;

use plugin_testing::{Answer, ScriptedChain, ScriptedLog, TestGateway, Value, Wallet, json};
use std::time::Duration;

const MESSAGES: &str = "/api/messages";
const LIMIT: Duration = Duration::from_secs(60);

/// A gateway with a chain of its own.
struct Site {
    house: TestGateway,
    chain: ScriptedChain,
}

/// Each database with a chain of these blocks, which is indexed. Agents may listen on this machine.
async fn sites(blocks: Vec<Vec<ScriptedLog>>) -> Vec<Site> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let mut sites = Vec::new();
    for builder in builders {
        let chain = ScriptedChain::start().await;
        for logs in &blocks {
            chain.mine(logs.clone());
        }
        let builder = builder.plugin(agents::plugin_module()).plugin(messages::plugin_module());
        let builder = builder.configure(|config| config.egress.allow_hosts = vec!["127.0.0.1".to_owned()]);
        let house = builder.chain(&chain, &["registry", "escrow"]).start().await;
        house.indexed(&chain).await;
        sites.push(Site { house, chain });
    }
    sites
}

impl Site {
    /// Lets the interval between two writes of one wallet pass, and more.
    async fn wait(&self, seconds: u64) {
        self.house.clock().advance(Duration::from_secs(seconds)).await;
    }

    async fn post(&self, sender: &Wallet, payload: Value) -> Answer {
        self.house.post_signed(MESSAGES, sender, "message.send", payload).await
    }

    /// Sends; answers the message.
    async fn send(&self, sender: &Wallet, payload: Value) -> Value {
        let answer = self.post(sender, payload).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()
    }

    /// What the wallet reads with these further members of the query.
    async fn inbox(&self, wallet: &Wallet, more: &str) -> Value {
        let signed = wallet.signed_query("inbox.read", self.house.now_s());
        let answer = self.house.get(&format!("{MESSAGES}/inbox?{signed}{more}")).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    async fn mine(&self, logs: Vec<ScriptedLog>) {
        self.chain.mine(logs);
        self.house.indexed(&self.chain).await;
    }

    /// Nothing went wrong inside.
    async fn close(self) {
        assert_eq!(self.house.faults().await, Vec::<String>::new());
        self.house.stop().await;
    }
}

fn nameless(wallet: &Wallet) -> Value {
    json!({ "address": wallet.address(), "name": null, "agentId": null })
}

fn named(wallet: &Wallet, name: &str, agent: i64) -> Value {
    json!({ "address": wallet.address(), "name": name, "agentId": agent })
}
