//! All plugins in one gateway: a chain, something stored in each plugin, and a right call of every operation.

mod audit_file;
mod badges;
mod call;
mod calls;
mod client;
mod commons;
mod conflicts;
mod credentials;
mod cursors;
mod documents;
mod filled_members;
mod mutant;
mod mutated;
mod mutations;
mod played_economy;
mod plugin_removed;
mod query_plans;
pub mod refusals;
mod registration_file;
mod schemathesis;
#[path = "../../../plugins/agents/tests/it/script.rs"]
#[allow(dead_code, reason = "what the contracts of agents say; few of it matters here")]
pub mod script;

pub use call::{Call, Payload, Request};
pub use calls::calls;
pub use plugin_removed::modules;

use crate::e2e::{self, Site};
use calls::{PAYLOAD, alice, operator, owner};
use gateway_clock::Clock;
use gateway_tests::{
    load_test_wallets,
    process::{GatewayProcess, Setup},
};
use plugin_testing::{ScriptedChain, TestGateway, TestResponse, json};
use script::{completed, delivered, registered_by, requested_by};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);
/// Longer than a test: each agent and each tool is probed once.
const PROBE_INTERVAL_S: u32 = 86_400;
const CONTRACTS: [&str; 3] = ["registry", "escrow", "x402Vault"];
const TREASURY: &str = "0x0000000000000000000000000000000000001234";

/// Two agents, an open job of alice's for the first, and one of hers for the second that is done.
pub async fn chain() -> ScriptedChain {
    let chain = ScriptedChain::start().await;
    let get_agent = "getAgent(uint256) returns ((address,string,string,string,uint256,uint256,uint64,uint64,uint8,uint32,uint32,uint32,uint32))";
    let state = json!([owner(1).address(), "Digger", "", "ipfs://m", "5", "100", 1, 0, 1, 1, 0, 1, 5]);
    chain.mock_call(ScriptedChain::address_of("registry"), get_agent, &[state]);
    chain.mine(
        [registered_by(1, owner(1).address(), "Digger", ""), registered_by(2, owner(2).address(), "Sorter", "")]
            .concat(),
    );
    let input = format!("fmx://payload/{}", alloy_primitives::keccak256(PAYLOAD));
    chain.mine(vec![requested_by(1, 1, alice().address(), "3000000000000000000", &input)]);
    let paid = requested_by(2, 2, alice().address(), "1", "fmx://payload/other");
    chain.mine(vec![paid, delivered(2, 2, "fmx://payload/out"), completed(2, "1", 5)]);
    chain.mine_empty(4);
    chain
}

/// A gateway in a process of its own, without rate limits, which calls only servers of the test.
pub fn setup(chain: &ScriptedChain) -> Setup {
    let contract =
        |setup: Setup, key: &&str| setup.set(&format!("chains.main.contracts.{key}"), ScriptedChain::address_of(key));
    let setup = CONTRACTS.iter().fold(e2e::setup_with_all_plugins(), contract);
    for_calls(setup).set("chains.main.rpc", chain.url()).set("chains.main.poll_ms", 200)
}

/// Takes [`calls`] one after the other.
fn for_calls(setup: Setup) -> Setup {
    let operators = format!("[\"{}\"]", operator().address());
    setup
        .set("limits.write_interval_ms", 0)
        .set("plugins.payloads.client_bytes_per_day_max", 1_u64 << 40)
        .set("plugins.memory.client_bytes_per_day", 1_u64 << 40)
        .set("plugins.memory.treasury", TREASURY)
        .set("plugins.loadtest.xpub", load_test_wallets::XPUB)
        .set("plugins.loadtest.wallets", 3)
        .set("plugins.loadtest.runner", true)
        .set("plugins.loadtest.operators", &operators)
        .set("plugins.payin.enabled", true)
        .set("plugins.payin.operators", &operators)
        .set("plugins.referrals.claim_days", 36_500)
        .set("plugins.referrals.operators", &operators)
        .set("plugins.validators.operators", operators)
        .set("plugins.validators.signatures_required", false)
        .set("plugins.validators.signups_per_hour", 1000)
        .set("plugins.tools.probe_interval_s", PROBE_INTERVAL_S)
        .set("plugins.agents.probe_interval_s", PROBE_INTERVAL_S)
}

/// Starts it and makes every call.
pub async fn start_with_content(setup: &Setup) -> GatewayProcess {
    let gateway = setup.start().await.unwrap();
    let site = Site::of(&gateway);
    TestGateway::eventually(LIMIT, "the chain is indexed", || async {
        site.get("/api/jobs/2").await.json()["status"] == "Completed"
    })
    .await;
    make_calls(&site, calls(Clock::System.now_s())).await;
    gateway
}

async fn make_calls(site: &Site, calls: Vec<Call>) {
    for call in calls {
        if call.operation.starts_with("get_log_") {
            // Signed every ten seconds.
            TestGateway::eventually(LIMIT, "the log is signed", || async { site.get(&call.path).await.status == 200 })
                .await;
        }
        assert_answered(&call, &send(site, &call.request(Clock::System.now_s())).await);
    }
}

pub async fn send(site: &Site, request: &Request) -> TestResponse {
    let method = reqwest::Method::from_bytes(request.method.as_bytes()).unwrap();
    let mut sent = site.request(method, &request.target).body(request.body.clone());
    for (name, value) in &request.headers {
        sent = sent.header(name, value.as_slice());
    }
    let response = e2e::in_time(sent.send()).await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let is_stream = headers.get("content-type").is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"));
    // A stream has no end.
    let body = if is_stream { bytes::Bytes::new() } else { e2e::in_time(response.bytes()).await.unwrap() };
    TestResponse { status, headers, body }
}

#[track_caller]
fn assert_answered(call: &Call, answer: &TestResponse) {
    assert_eq!(answer.status, call.status, "{}: {}", call.operation, answer.text());
}

/// Neither the log nor the report of a plugin contains a fault.
pub async fn assert_no_faults(gateway: &GatewayProcess) {
    assert_no_errors_logged(gateway);
    let reports = Site::at(gateway.admin_url()).get("/plugins").await.json();
    for report in reports.as_array().unwrap() {
        assert_eq!((&report["state"], &report["faults"]), (&"serving".into(), &0.into()), "{report}");
    }
}

pub fn assert_no_errors_logged(gateway: &GatewayProcess) {
    let log = gateway.setup().log();
    for word in ["panicked", "ERROR", "\"level\":\"ERROR\""] {
        let line = log.lines().find(|line| line.contains(word));
        assert_eq!(line, None, "{word} is in the log");
    }
}
