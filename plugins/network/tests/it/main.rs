//! The hiring graph in a gateway, on each database, with a scripted chain: one file per operation and subject.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod accounts;
mod contributions;
mod get_network;
mod get_network_graph;
mod labelled;
mod list_similar_agents;
#[path = "../../../agents/tests/it/probe.rs"]
mod probe;
mod reorganisation;
#[path = "../../../agents/tests/it/script.rs"]
#[allow(dead_code, reason = "what the contracts of agents say; few of it matters here")]
mod script;

use plugin_testing::{Builder, ScriptedChain, ScriptedLog, TestGateway, Value, json};
use script::{account, completed, hash, registered_by, requested_by, updated};
use std::time::Duration;

const NETWORK: &str = "/api/network";
const CONTRACTS: [&str; 4] = ["registry", "escrow", "accountFactory", "x402Vault"];
const LIMIT: Duration = Duration::from_secs(60);
/// 2^256 - 1.
const MAX: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

/// A gateway with its own chain.
struct Site {
    gateway: TestGateway,
    chain: ScriptedChain,
}

/// A site on each database, one after the other, on whose chain these logs are mined.
async fn each(logs: Vec<ScriptedLog>, test: impl AsyncFn(&Site)) {
    each_with(logs, |builder| builder, test).await;
}

/// The same with more plugins.
async fn each_with(logs: Vec<ScriptedLog>, configure: impl Fn(Builder) -> Builder, test: impl AsyncFn(&Site)) {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    for builder in builders {
        let chain = ScriptedChain::start().await;
        let builder = builder.plugin(agents::plugin_module()).plugin(network::plugin_module());
        let gateway = configure(builder).chain(&chain, &CONTRACTS).start().await;
        let site = Site { gateway, chain };
        site.mine(logs.clone()).await;
        test(&site).await;
        assert_eq!(site.gateway.faults().await, Vec::<String>::new());
        site.gateway.stop().await;
    }
}

/// Agent `id` of account `owner`.
fn agent(id: u64, owner: u64) -> Vec<ScriptedLog> {
    named(id, owner, &format!("Agent {id}"))
}

fn named(id: u64, owner: u64, name: &str) -> Vec<ScriptedLog> {
    registered_by(id, &account(owner), name, &format!("https://agent{id}.example"))
}

fn priced(id: u64, price: &str) -> ScriptedLog {
    updated(id, &format!("https://agent{id}.example"), "", price)
}

/// A job from request to release.
fn job(id: u64, agent: u64, client: u64, amount: &str, rating: u8) -> Vec<ScriptedLog> {
    vec![requested_by(id, agent, &account(client), amount, ""), completed(id, amount, rating)]
}

fn account_created(owner: u64, created: u64) -> ScriptedLog {
    let event = "AccountCreated(address indexed owner, address indexed account)";
    ScriptedLog::new("accountFactory", event, &[json!(account(owner)), json!(account(created))])
}

fn settled(payer: u64, payee: u64, amount: &str, nonce: u64) -> ScriptedLog {
    let event = "Settled(address indexed payer, address indexed payee, uint256 amount, uint256 fee, uint256 nonce, bytes32 ref)";
    let arguments =
        [json!(account(payer)), json!(account(payee)), json!(amount), json!("0"), json!(nonce), json!(hash(0))];
    ScriptedLog::new("x402Vault", event, &arguments)
}

impl Site {
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

    /// The graph with this query.
    async fn graph(&self, query: &str) -> Value {
        self.read(&format!("{NETWORK}?{query}")).await
    }

    /// The edges of the graph with this query, each as `kind from>to jobs volume`: the number of an account, and of an agent.
    async fn edges(&self, query: &str) -> Vec<String> {
        let graph = self.graph(query).await;
        graph["edges"].as_array().unwrap().iter().map(line).collect()
    }

    /// Stores the card of an agent, as if it had been fetched from its endpoint.
    async fn declare(&self, agent: u64, capabilities: &[&str]) {
        let capabilities = json!(capabilities).to_string().replace('\'', "''");
        let statement = format!(
            "INSERT INTO agents_cards (agent_id, endpoint, checked_at, online, card, capabilities) \
             VALUES ({agent}, 'https://agent{agent}.example', {}, 1, '{{}}', '{capabilities}') \
             ON CONFLICT (agent_id) DO UPDATE SET capabilities = excluded.capabilities",
            self.gateway.now_s()
        );
        self.gateway.execute(&statement).await;
    }

    /// Lets time pass until the plugin knows of so many declared capabilities.
    async fn knows_capabilities(&self, count: usize) {
        let expected = [format!("Int({count})")];
        let waits = async {
            while self.gateway.rows("SELECT count(*) FROM network_capabilities").await != expected {
                self.gateway.clock().advance(Duration::from_secs(20)).await;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let in_time = tokio::time::timeout(LIMIT, waits).await;
        assert!(in_time.is_ok(), "{count} capabilities: not within {LIMIT:?}");
    }
}

fn line(edge: &Value) -> String {
    let text = |name: &str| edge[name].as_str().unwrap().to_owned();
    let from = text("from").trim_start_matches("0x").trim_start_matches('0').to_owned();
    format!("{} {from}>{} {} {}", text("kind"), edge["toAgentId"], edge["jobs"], text("volumeWei"))
}
