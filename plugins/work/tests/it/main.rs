//! Work in a gateway with agents, bounties and a forum, on each database, with a scripted chain.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod actions;
mod list_work;
#[path = "../../../agents/tests/it/script.rs"]
#[allow(dead_code, reason = "what the contracts of agents say; few of it matters here")]
mod script;
mod stream_work;

use plugin_api::abi::PluginModule_Ref;
use plugin_testing::{ScriptedChain, ScriptedLog, TestGateway, Value, Wallet, json};
use script::{registered_by, requested_by};
use std::time::Duration;
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{method, path},
};

const VAULT: &str = "x402Vault";
const WORK: &str = "/api/work";
/// All kinds but endpoints: the time when agent 2's card is read depends on a job.
const NO_CALLS: &str = "?kind=job,bounty,arena,question";
const LIMIT: Duration = Duration::from_secs(60);

/// A gateway with its own chain. Agent 1 belongs to wallet 11, agent 2 to wallet 12 and sells calls.
struct Site {
    gateway: TestGateway,
    chain: ScriptedChain,
    /// Serves the endpoint of agent 2.
    agent: MockServer,
}

fn poster() -> Wallet {
    Wallet::new(1)
}

fn owner(agent: u64) -> Wallet {
    Wallet::new(10 + agent)
}

fn all() -> Vec<PluginModule_Ref> {
    vec![
        agents::plugin_module(),
        arena::plugin_module(),
        bounties::plugin_module(),
        forum::plugin_module(),
        payloads::plugin_module(),
        tools::plugin_module(),
        work::plugin_module(),
    ]
}

async fn sites() -> Vec<Site> {
    sites_of(&all()).await
}

/// With an indexed chain, and a card that prices a call of agent 2 at 2 FMX.
async fn sites_of(plugins: &[PluginModule_Ref]) -> Vec<Site> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let mut sites = Vec::new();
    for builder in builders {
        let agent = MockServer::start().await;
        let card = json!({
            "service": 1, "description": "Sorts", "capabilities": ["Sort", "rust", "c", "d", "e"],
            "pricePerCall": "2000000000000000000"
        });
        let well_known = Mock::given(method("GET")).and(path("/.well-known/service-agent.json"));
        well_known.respond_with(ResponseTemplate::new(200).set_body_json(card)).mount(&agent).await;
        let chain = ScriptedChain::start().await;
        chain.mine(registered_by(1, owner(1).address(), "Digger", ""));
        chain.mine(registered_by(2, owner(2).address(), "Sorter", &agent.uri()));
        let builder = plugins.iter().fold(builder, |builder, plugin| builder.plugin(*plugin));
        let builder = builder.configure(|config| config.egress.allow_hosts = vec!["127.0.0.1".to_owned()]);
        let gateway = builder.chain(&chain, &["registry", "escrow", VAULT]).start().await;
        gateway.indexed(&chain).await;
        sites.push(Site { gateway, chain, agent });
    }
    sites
}

impl Site {
    async fn wait(&self, seconds: u64) {
        self.gateway.clock().advance(Duration::from_secs(seconds)).await;
    }

    async fn mine(&self, logs: Vec<ScriptedLog>) {
        self.chain.mine(logs);
        self.gateway.indexed(&self.chain).await;
    }

    /// Somebody's voucher pays this owner.
    async fn pay(&self, owner: &Wallet) {
        let event = "Settled(address indexed payer, address indexed payee, uint256 amount, uint256 fee, uint256 nonce, bytes32 ref)";
        let (payer, payee, reference) = (poster(), owner.address(), format!("0x{}", "0".repeat(64)));
        let arguments = [json!(payer.address()), json!(payee), json!("5"), json!("0"), json!("1"), json!(reference)];
        self.mine(vec![ScriptedLog::new(VAULT, event, &arguments)]).await;
    }

    /// Mines until the chain's events become public.
    async fn bury(&self) {
        self.chain.mine_empty(4);
        self.gateway.indexed(&self.chain).await;
    }

    /// GETs a path; expects 200 and returns the JSON.
    async fn read(&self, path: &str) -> Value {
        let response = self.gateway.get(path).await;
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        response.json()
    }

    /// Ids of a list of work.
    async fn ids(&self, query: &str) -> Vec<String> {
        let list = self.read(&format!("{WORK}{query}")).await;
        list["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until the card of agent 2 is read.
    async fn probed(&self) {
        TestGateway::eventually(LIMIT, "the card is read", || async {
            self.wait(6).await;
            self.ids("?kind=endpoint").await == ["endpoint:2"]
        })
        .await;
    }

    async fn write(&self, path: &str, wallet: &Wallet, action: &str, payload: Value) -> i64 {
        let response = self.gateway.post_signed(path, wallet, action, payload).await;
        assert_eq!(response.status, 201, "{}", response.text());
        self.wait(2).await;
        response.json()["id"].as_i64().unwrap()
    }

    async fn bounty(&self, title: &str, more: Value) -> i64 {
        let mut payload = json!({ "title": title, "brief": "what\nto do", "rewardWei": "5", "tags": ["Paid"] });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.write("/api/bounties", &poster(), "bounty.create", payload).await
    }

    async fn question(&self, title: &str) -> i64 {
        let payload = json!({ "title": title, "body": "who knows?", "tags": ["help"] });
        self.write("/api/forum/threads", &poster(), "thread.create", payload).await
    }

    /// A job of the poster for agent 1.
    async fn job(&self, job: u64, amount: &str) {
        self.mine(vec![requested_by(job, 1, poster().address(), amount, "fmx://payload/in")]).await;
    }

    /// Ends a test: no plugin reported a fault.
    async fn close(self) {
        assert_eq!(self.gateway.faults().await, Vec::<String>::new());
        self.gateway.stop().await;
    }
}
