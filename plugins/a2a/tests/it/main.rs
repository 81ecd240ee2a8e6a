//! The plugin a2a in a gateway with agents and payloads, on each database, with a scripted chain: one file per operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod call_a2a;
mod contributions;
mod get_a2a_card;
mod get_old_a2a_card;
mod invoke_agent;
mod jobs;
#[path = "../../../agents/tests/it/script.rs"]
#[allow(dead_code, reason = "what the contracts of agents say; few of it matters here")]
mod script;

use plugin_testing::{Builder, ScriptedChain, ScriptedLog, TestGateway, TestResponse, Value, json};
use wiremock::{
    Mock, MockServer, Request, ResponseTemplate,
    matchers::{method, path},
};

const BASE: &str = "http://127.0.0.1:8080";

/// A gateway with its own chain.
struct Site {
    gateway: TestGateway,
    chain: ScriptedChain,
}

/// Gateways that may call this machine.
async fn sites(logs: Vec<ScriptedLog>) -> Vec<Site> {
    sites_with(logs, lets_out).await
}

fn lets_out(builder: Builder) -> Builder {
    builder.configure(|config| config.egress.allow_hosts = vec!["127.0.0.1".to_owned()])
}

async fn sites_with(logs: Vec<ScriptedLog>, configure: impl Fn(Builder) -> Builder) -> Vec<Site> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let mut sites = Vec::new();
    for builder in builders {
        let chain = ScriptedChain::start().await;
        for block in logs.chunks(12) {
            chain.mine(block.to_vec());
        }
        let modules = [agents::plugin_module(), payloads::plugin_module(), a2a::plugin_module()];
        let builder = modules.into_iter().fold(builder, Builder::plugin);
        // Cards are written by the tests.
        let builder = builder.config("agents", json!({ "probe_interval_s": 86_400 }));
        let gateway = configure(builder).chain(&chain, &["registry", "escrow"]).start().await;
        gateway.indexed(&chain).await;
        sites.push(Site { gateway, chain });
    }
    sites
}

impl Site {
    async fn mine(&self, logs: Vec<ScriptedLog>) {
        self.chain.mine(logs);
        self.gateway.indexed(&self.chain).await;
    }

    /// Stores a card of the agent as the last probe's.
    async fn store_card(&self, agent: u64, endpoint: &str, card: &Value) {
        let wei = |price: &Value| {
            price
                .as_str()
                .filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
                .map(str::to_owned)
        };
        let text =
            |value: Option<&str>| value.map_or("NULL".to_owned(), |value| format!("'{}'", value.replace('\'', "''")));
        let capabilities = card["capabilities"].is_array().then(|| card["capabilities"].to_string());
        self.gateway
            .execute(&format!(
                "INSERT INTO agents_cards (agent_id, endpoint, checked_at, online, card, description, capabilities, image, \
                 price_per_call, last_seen_ms) VALUES ({agent}, '{endpoint}', {}, 1, {}, {}, {}, {}, {}, 1) \
                 ON CONFLICT (agent_id) DO UPDATE SET endpoint = excluded.endpoint, online = 1, card = excluded.card, \
                 description = excluded.description, capabilities = excluded.capabilities, image = excluded.image, \
                 price_per_call = excluded.price_per_call",
                self.gateway.now_s(),
                text(Some(&card.to_string())),
                text(card["description"].as_str()),
                text(capabilities.as_deref()),
                text(card["image"].as_str()),
                text(wei(&card["pricePerCall"]).as_deref()),
            ))
            .await;
    }

    async fn invoke(&self, name: &str, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> TestResponse {
        self.gateway.send("POST", &format!("/a/{name}/invoke"), headers, body.into()).await
    }

    async fn rpc(&self, name: &str, request: &Value) -> TestResponse {
        let headers = [("content-type", "application/json")];
        self.gateway.send("POST", &format!("/a/{name}/a2a"), &headers, request.to_string()).await
    }

    /// Ends a test: no plugin reported a fault.
    async fn close(self) {
        assert_eq!(self.gateway.faults().await, Vec::<String>::new());
        self.gateway.stop().await;
    }
}

/// An agent's server that answers its `/invoke`.
async fn agent_server(answer: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).and(path("/invoke")).respond_with(answer).mount(&server).await;
    server
}

async fn serve(server: &MockServer, answer: ResponseTemplate) {
    server.reset().await;
    Mock::given(method("POST")).and(path("/invoke")).respond_with(answer).mount(server).await;
}

/// The calls that the agent got: probes are no calls.
async fn calls(server: &MockServer) -> Vec<Request> {
    let requests = server.received_requests().await.unwrap();
    requests.into_iter().filter(|request| request.url.path() == "/invoke").collect()
}

/// Status and code of an error, which has a text and a hint.
fn refusal(response: &TestResponse) -> (u16, String) {
    let body = response.json();
    for member in ["error", "hint"] {
        assert!(body[member].as_str().is_some_and(|text| !text.is_empty()), "{body}");
    }
    (response.status, response.code())
}

fn is(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}
