//! The record of agents in a gateway with agents, on each database, with a scripted chain: one file per operation and subject.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod cached;
mod configuration;
mod contributions;
mod event_counts;
mod forged;
mod get_cv;
mod get_cv_badge;
mod get_cv_context;
mod get_cv_credential;
mod get_cv_schema;
mod get_cv_verification;
mod issued;
mod keep_anchored;
mod missing;
mod reorganised;
mod rogue;
#[path = "../../../agents/tests/it/script.rs"]
#[allow(dead_code, reason = "what the contracts of agents say; few of it matters here")]
mod script;
mod verifier;

use plugin_api::abi::PluginModule_Ref;
use plugin_testing::{Builder, ScriptedChain, ScriptedLog, TestGateway, TestResponse, Value, json};
use script::{account, done, feedback, registered, requested, validated, validation_requested};

const CONTRACTS: [&str; 8] = [
    "registry",
    "escrow",
    "x402Vault",
    "identity8004",
    "reputation8004",
    "validation8004",
    "memoryAnchor",
    "endorsements",
];
/// Number of the wallet with the key of the role gateway.
const SIGNER: u64 = 900;
const GET_AGENT: &str = "getAgent(uint256) returns ((address,string,string,string,uint256,uint256,uint64,uint64,uint8,uint32,uint32,uint32,uint32))";

/// A gateway with its own chain.
struct Site {
    gateway: TestGateway,
    chain: ScriptedChain,
}

/// Agent 1 of account 1, with a job that was done, one that is open, feedback and a validation.
fn history() -> Vec<Vec<ScriptedLog>> {
    vec![
        registered(1, 1, "Digger", "https://digger.example"),
        done(1, 1, 7, "1000000000000000000", 5),
        vec![requested(2, 1, 8, "3"), feedback(1, 7, 1, "85")],
        vec![validation_requested(5, 1, "fmx://job/1", 1), validated(5, 1, 1, 90)],
    ]
}

/// What the registry answers of agent 1.
fn set_state(chain: &ScriptedChain, endpoint: &str, status: u8) {
    let state = json!([account(1), "Digger", endpoint, "ipfs://m", "5", "100", 1, 0, status, 1, 0, 1, 5]);
    chain.mock_call(ScriptedChain::address_of("registry"), GET_AGENT, &[state]);
}

fn modules() -> Vec<PluginModule_Ref> {
    vec![
        agents::plugin_module(),
        memory::plugin_module(),
        x402::plugin_module(),
        audit::plugin_module(),
        aicv::plugin_module(),
    ]
}

fn prepared(builder: Builder, chain: &ScriptedChain, modules: Vec<PluginModule_Ref>) -> Builder {
    let builder = modules.into_iter().fold(builder, Builder::plugin);
    // Cards are written by the tests.
    let builder = builder.config("agents", json!({ "probe_interval_s": 86_400 })).signer("gateway", SIGNER);
    builder.chain(chain, &CONTRACTS)
}

async fn sites() -> Vec<Site> {
    sites_with(history(), modules, |builder| builder).await
}

async fn sites_with(
    blocks: Vec<Vec<ScriptedLog>>,
    modules: impl Fn() -> Vec<PluginModule_Ref>,
    configure: impl Fn(Builder) -> Builder,
) -> Vec<Site> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let mut sites = Vec::new();
    for builder in builders {
        let chain = ScriptedChain::start().await;
        set_state(&chain, "https://digger.example", script::ACTIVE);
        blocks.iter().for_each(|logs| {
            chain.mine(logs.clone());
        });
        chain.mine_empty(3);
        let gateway = configure(prepared(builder, &chain, modules())).start().await;
        gateway.indexed(&chain).await;
        sites.push(Site { gateway, chain });
    }
    sites
}

impl Site {
    async fn get(&self, path: &str) -> TestResponse {
        self.gateway.get(path).await
    }

    /// GETs a path; expects 200 and returns the JSON.
    async fn read(&self, path: &str) -> Value {
        let response = self.get(path).await;
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        response.json()
    }

    /// Mines a block, so deep that its events are public.
    async fn mine(&self, logs: Vec<ScriptedLog>) {
        self.chain.mine(logs);
        self.chain.mine_empty(3);
        self.gateway.indexed(&self.chain).await;
    }

    /// Ends a test: no plugin reported a fault.
    async fn close(self) {
        assert_eq!(self.gateway.faults().await, Vec::<String>::new());
        self.gateway.stop().await;
    }
}

fn record(document: &Value) -> &Vec<Value> {
    document["credentialSubject"]["record"].as_array().unwrap()
}

fn claims<'d>(document: &'d Value, kind: &str) -> Vec<&'d Value> {
    record(document).iter().filter(|claim| claim["type"] == kind).collect()
}

/// Status and code of an error, which has a text and a hint.
fn refusal(response: &TestResponse) -> (u16, String) {
    let body = response.json();
    for member in ["error", "hint"] {
        assert!(body[member].as_str().is_some_and(|text| !text.is_empty()), "{body}");
    }
    (response.status, response.code())
}
