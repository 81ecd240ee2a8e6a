//! A dev network, agents whose answers a test decides, and gateways that sell their calls.
//!
//! The rule: the gateways of a test share the chain and nothing else. Each settles with a key of its own.

use super::{FMX, PRICE, Payment, Till, until};
use crate::{e2e::setup_on_devnet, storage::Engine};
use alloy_primitives::U256;
use futures_util::future::join_all;
use gateway_tests::{
    devnet::{Devnet, encoded},
    process::Setup,
};
use plugin_testing::{Value, json};
use wiremock::{
    Mock, MockServer, Request, ResponseTemplate,
    matchers::{method, path},
};

/// What the payments are made of.
const PLUGINS: [&str; 5] = ["a2a", "agents", "memory", "payloads", "x402"];
const REGISTER: &str = "register(string name, string endpoint, string metadataURI, uint256 pricePerJob)";
/// The gateways' default.
pub const CONFIRMATIONS: u64 = 3;
/// The test key that owns all agents, and so is paid.
pub const OWNER: &str = "user1";

pub struct Market {
    pub devnet: Devnet,
    /// The agents' server: see [`agent`].
    pub agents: MockServer,
    /// Hosts with ports that gateways may call although they are on this machine.
    allowed: Vec<String>,
    /// How many agents are registered; their ids count from 1.
    pub registered: u64,
}

/// An agent of the market's server: its name, which is its slug too, and what it answers.
pub fn agent(name: &'static str, answer: ResponseTemplate) -> (&'static str, ResponseTemplate) {
    (name, answer)
}

/// Lets `server` be a priced agent below the path of its name.
pub async fn serve(server: &MockServer, name: &str, answer: ResponseTemplate) {
    let card = json!({ "service": 1, "description": name, "pricePerCall": PRICE.to_string() });
    let card_path = format!("/{name}/.well-known/service-agent.json");
    let card = ResponseTemplate::new(200).set_body_json(card);
    Mock::given(method("GET")).and(path(card_path)).respond_with(card).mount(server).await;
    Mock::given(method("POST")).and(path(format!("/{name}/invoke"))).respond_with(answer).mount(server).await;
}

/// A server that ends when it is dropped.
pub async fn server() -> MockServer {
    MockServer::builder().start().await
}

impl Market {
    /// With these agents on one server.
    pub async fn open(agents: &[(&'static str, ResponseTemplate)]) -> Self {
        let devnet = Devnet::start().await.unwrap();
        let mut market = Self { devnet, agents: server().await, allowed: Vec::new(), registered: 0 };
        for (name, answer) in agents {
            serve(&market.agents, name, answer.clone()).await;
            let endpoint = format!("{}/{name}", market.agents.uri());
            market.register(name, &endpoint).await;
        }
        let address = market.agents.address().to_string();
        market.allow(address);
        market
    }

    /// Lets the gateways that start later call this host.
    pub fn allow(&mut self, host: String) {
        self.allowed.push(host);
    }

    pub async fn register(&mut self, name: &str, endpoint: &str) {
        self.send(OWNER, "registry", REGISTER, &[name, endpoint, "", "1"], 100 * FMX).await;
        self.registered += 1;
    }

    /// A gateway on this chain, not yet started. `facilitator` is the test key that it settles with.
    pub async fn setup(&self, engine: Engine, facilitator: &str) -> Setup {
        let setup = setup_on_devnet(&self.devnet, engine, &PLUGINS, ("facilitator", facilitator)).await;
        setup.set("egress.allow_hosts", self.allowed.join(","))
    }

    /// A gateway on each database, ready to sell.
    pub async fn tills(&self, adjust: impl Fn(Setup) -> Setup) -> Vec<Till> {
        let keys = [(Engine::Sqlite, "facilitator"), (Engine::Postgres, "relayer")];
        let setups = join_all(keys.map(|(engine, key)| self.setup(engine, key))).await;
        let opening = setups.into_iter().zip(keys);
        join_all(opening.map(|(setup, (_, key))| Till::open(self, adjust(setup), key))).await
    }

    /// Sends a transaction and waits until it is in a block. It must succeed.
    pub async fn send(&self, role: &str, contract: &str, function: &str, args: &[&str], wei: u128) {
        let hash = self.devnet.send(role, contract, function, args, wei).await.unwrap();
        self.devnet.included(&hash).await.unwrap();
        let receipt = self.devnet.call("eth_getTransactionReceipt", json!([hash])).await.unwrap();
        assert_eq!(receipt["status"], "0x1", "{function} reverted: {receipt}");
    }

    /// So deep in the chain that it counts.
    pub async fn deposit(&self, role: &str, wei: u128) {
        self.send(role, "x402Vault", "deposit()", &[], wei).await;
        self.devnet.mine(CONFIRMATIONS).await.unwrap();
    }

    /// What a function of the vault returns now, a number or an address.
    pub async fn vault(&self, function: &str, args: &[&str]) -> U256 {
        let call = json!({ "to": self.devnet.facts.contracts["x402Vault"], "data": encoded(function, args).unwrap() });
        let answer = self.devnet.call("eth_call", json!([call, "latest"])).await.unwrap();
        number(&answer)
    }

    /// A test key's deposit.
    pub async fn balance(&self, role: &str) -> U256 {
        self.vault("balance(address)", &[self.account(role)]).await
    }

    /// What a payee can take out of the vault.
    pub async fn credits(&self, role: &str) -> U256 {
        self.vault("credits(address)", &[self.account(role)]).await
    }

    pub fn account(&self, role: &str) -> &str {
        self.devnet.account(role).unwrap()
    }

    /// Waits until so many transactions wait to be mined.
    pub async fn waits(&self, count: usize) {
        let waiting = async || {
            let pool = self.devnet.call("txpool_status", json!([])).await.unwrap();
            number(&pool["pending"]) == U256::from(count)
        };
        until("transactions wait to be mined", waiting).await;
    }

    /// How often an agent of the market's server was called.
    pub async fn calls_of(&self, name: &str) -> usize {
        self.calls(|request| request.url.path() == format!("/{name}/invoke")).await
    }

    /// How often the agents were called for a payment.
    pub async fn calls_for(&self, payment: &Payment) -> usize {
        let nonce = payment.voucher.nonce.to_string();
        let names = |request: &Request| request.headers.get("x-service-payment-nonce").is_some_and(|it| *it == *nonce);
        self.calls(names).await
    }

    async fn calls(&self, is_meant: impl Fn(&Request) -> bool) -> usize {
        let requests = self.agents.received_requests().await.unwrap();
        requests.iter().filter(|request| is_meant(request)).count()
    }
}

/// From the node's hexadecimal digits.
pub fn number(hex: &Value) -> U256 {
    hex.as_str().and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{hex} is no number"))
}

pub fn wei(amount: u128) -> U256 {
    U256::from(amount)
}
