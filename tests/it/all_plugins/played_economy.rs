//! An economy that was played on a real node, and what clients and agents add to it: the world in which nearly every optional
//! member of an answer is filled.

use super::{Call, LIMIT, alice, calls, for_calls, make_calls, owner};
use crate::{
    e2e::{self, Site},
    storage::Engine,
};
use gateway_clock::Clock;
use gateway_tests::{
    devnet::Devnet,
    process::{GatewayProcess, Setup},
};
use plugin_api::Address;
use plugin_testing::{TestGateway, json};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{any, path},
};

/// Agents that play; one more registers later.
pub const AGENTS: u64 = 10;
/// Owns the agent that registers after those that play.
pub const PURSER: &str = "user1";
const FMX: u128 = 1_000_000_000_000_000_000;

const REGISTER: &str = "register(string name, string endpoint, string metadataURI, uint256 pricePerJob)";
const UPDATE: &str = "update(uint256 id, string endpoint, string metadataURI, uint256 pricePerJob)";
const SET_STATUS: &str = "setStatus(uint256 id, uint8 s)";
const TRANSFER: &str = "transferOwnership(uint256 id, address newOwner)";
const REQUEST: &str = "requestJob(uint256 agentId, bytes32 inputHash, string inputURI)";
const DELIVER: &str = "deliver(uint256 jobId, bytes32 outputHash, string outputURI)";
const RELEASE: &str = "release(uint256 jobId, uint8 rating)";
const ASK_VALIDATOR: &str =
    "validationRequest(address validatorAddress, uint256 agentId, string requestURI, bytes32 requestHash)";
const VALIDATE: &str =
    "validationResponse(bytes32 requestHash, uint8 response, string responseURI, bytes32 responseHash, string tag)";

pub struct PlayedEconomy {
    pub gateway: GatewayProcess,
    pub devnet: Devnet,
    _endpoint: MockServer,
}

impl PlayedEconomy {
    pub async fn start(engine: Engine) -> Self {
        Self::of_agents(engine, AGENTS).await
    }

    /// With more agents, which take longer to play.
    pub async fn of_agents(engine: Engine, agents: u64) -> Self {
        let limit = LIMIT * u32::try_from(8 + agents).unwrap();
        let devnet = Devnet::start_within(limit, &["--agents", &agents.to_string()]).await.unwrap();
        let endpoint = endpoint().await;
        prepare_agents(&devnet, &endpoint.uri()).await;
        let gateway = setup(engine, &devnet, &endpoint).await.start().await.unwrap();
        let site = Site::of(&gateway);
        let last = format!("/api/agents/{}", agents + 1);
        TestGateway::eventually(LIMIT, "the chain is indexed", || async {
            let status = site.get("/api/status").await.json();
            let has_all = status["services"]["v3indexer"]["backfilled"] == true;
            has_all && status["services"]["indexer"]["lagBlocks"] == 0 && site.get(&last).await.status == 200
        })
        .await;
        make_calls(&site, calls(Clock::System.now_s())).await;
        make_calls(&site, further_calls(&endpoint.uri())).await;
        sign_up(&site).await;
        hire(&devnet).await;
        TestGateway::eventually(LIMIT, "jobs are indexed, and what is online is found", || is_settled(&site)).await;
        Self { gateway, devnet, _endpoint: endpoint }
    }

    /// [`PURSER`] registers more agents, with these names.
    pub async fn register(&self, names: &[&str]) {
        for name in names {
            let arguments = [name, "https://named.example", "", "1"];
            sent(&self.devnet, PURSER, "registry", REGISTER, &arguments, 100 * FMX).await;
        }
        self.devnet.mine(10).await.unwrap();
    }
}

/// Where the first agent and two tools are reached. It answers everything, and has a card.
async fn endpoint() -> MockServer {
    let server = MockServer::start().await;
    let card = json!({
        "service": 1, "description": "Digs holes", "capabilities": ["dig"], "model": "spade-1", "pricePerCall": "10",
        "image": "https://a.example/spade.png"
    });
    let response = ResponseTemplate::new(200).set_body_json(card);
    Mock::given(path("/.well-known/service-agent.json")).respond_with(response).mount(&server).await;
    Mock::given(any()).respond_with(ResponseTemplate::new(200)).with_priority(9).mount(&server).await;
    server
}

/// Gives the first two agents to the wallets that [`calls`] sign with. The owner of the first, whom others pay, registers another
/// one: payees are shown with their agents.
async fn prepare_agents(devnet: &Devnet, endpoint: &str) {
    let (hash, validator) = (word(1), devnet.account("user2").unwrap());
    let (first, second) = (owner(1), owner(2));
    let register = ["Purser", "https://purser.example", "", "1"];
    sent(devnet, PURSER, "registry", REGISTER, &register, 100 * FMX).await;
    let steps: [(&str, &str, &str, &[&str]); 7] = [
        ("user1", "registry", UPDATE, &["1", endpoint, "", "1"]),
        ("user2", "registry", UPDATE, &["2", "https://agent-2.example", "", "1"]),
        // The play has paused it.
        ("user2", "registry", SET_STATUS, &["2", "1"]),
        ("user1", "validation8004", ASK_VALIDATOR, &[validator, "1", "fmx://job/1", &hash]),
        ("user2", "validation8004", VALIDATE, &[&hash, "80", "fmx://payload/report", &hash, "quality"]),
        ("user1", "registry", TRANSFER, &["1", first.address()]),
        ("user2", "registry", TRANSFER, &["2", second.address()]),
    ];
    for (role, contract, function, args) in steps {
        sent(devnet, role, contract, function, args, 0).await;
    }
}

/// Alice hires the second agent for her bounty, which is done, and the first one for her challenge.
async fn hire(devnet: &Devnet) {
    let (client, worker, hash) = (alice(), owner(2), word(2));
    for wallet in [&client, &worker] {
        devnet.impersonate(wallet.address()).await.unwrap();
    }
    let played = devnet.economy().unwrap()["jobs"].as_array().unwrap().len();
    let job = (played + 1).to_string();
    let steps: [(&str, &str, &[&str], u128); 4] = [
        (client.address(), REQUEST, &["2", &hash, "fmx://bounty/2"], FMX),
        (worker.address(), DELIVER, &[&job, &hash, "fmx://payload/out"], 0),
        (client.address(), RELEASE, &[&job, "5"], 0),
        (client.address(), REQUEST, &["1", &hash, "fmx://arena/1"], FMX),
    ];
    for (from, function, args, wei) in steps {
        let transaction = devnet.send_from(from, "escrow", function, args, wei).await.unwrap();
        assert_succeeded(devnet, &transaction, function).await;
    }
    devnet.mine(10).await.unwrap();
}

async fn sent(devnet: &Devnet, role: &str, contract: &str, function: &str, args: &[&str], wei: u128) {
    let transaction = devnet.send(role, contract, function, args, wei).await.unwrap();
    assert_succeeded(devnet, &transaction, function).await;
}

async fn assert_succeeded(devnet: &Devnet, transaction: &str, function: &str) {
    devnet.included(transaction).await.unwrap();
    let receipt = devnet.call("eth_getTransactionReceipt", json!([transaction])).await.unwrap();
    assert_eq!(receipt["status"], "0x1", "{function}");
}

/// A hash that stands for any.
fn word(number: u64) -> String {
    format!("0x{number:064x}")
}

async fn setup(engine: Engine, devnet: &Devnet, endpoint: &MockServer) -> Setup {
    let contract =
        |setup: Setup, (key, address): (&String, &Address)| setup.set(&format!("chains.main.contracts.{key}"), address);
    let setup = devnet.facts.contracts.iter().fold(e2e::setup_with_all_plugins_on(engine).await, contract);
    for_calls(setup)
        .set("chains.main.rpc", &devnet.facts.rpc_url)
        .set("chains.main.poll_ms", 200)
        .set("chains.main.deploy_block", 1)
        .set("chains.main.public_rpc", "https://rpc.network.example")
        .set("chains.main.explorer", "https://explorer.network.example")
        .set("web.base_url", "https://network.example")
        .set("plugins.aicv.rpc", json!([devnet.facts.anvil_url]))
        .set("egress.allow_hosts", endpoint.address())
}

/// What [`calls`] leave out: writes of somebody who owns an agent, and tools that are online.
fn further_calls(endpoint: &str) -> Vec<Call> {
    let (digger, sorter) = (owner(1), owner(2));
    vec![
        Call::write("ping_presence", "/api/presence", &digger, "presence.ping", json!({ "status": "digging" }))
            .answered(200),
        Call::write(
            "write_page",
            "/api/kb/how-to-rest",
            &digger,
            "kb.write",
            json!({ "title": "Rest", "body": "Sit" }),
        )
        .method("PUT"),
        Call::write(
            "publish_tool",
            "/api/tools",
            &sorter,
            "tool.publish",
            json!({ "name": "sieve", "kind": "http", "url": format!("{endpoint}/sieve"), "schema": { "type": "object" } }),
        ),
        Call::write(
            "publish_tool",
            "/api/tools",
            &sorter,
            "tool.publish",
            json!({ "name": "mill", "kind": "compute", "endpoint": format!("{endpoint}/mill"), "gpu": "NVIDIA H100",
                "vramGb": 80, "pricePerSecond": "1000", "region": "EU-West", "schema": { "type": "object" } }),
        ),
    ]
}

/// A signed entry of the waitlist; that of [`calls`] is not signed.
async fn sign_up(site: &Site) {
    let digger = owner(1);
    let fields = format!("address={}&platform=linux&seats=1", digger.address());
    let challenge = site.get(&format!("/api/validators/waitlist/challenge?{fields}")).await.json();
    let sig = digger.sign_text(challenge["message"].as_str().unwrap());
    let payload = json!({ "address": digger.address(), "platform": "linux", "seats": 1, "sig": sig,
        "nonce": challenge["nonce"], "expires": challenge["expires"] });
    let answer = site.post("/api/validators/waitlist", &payload).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
}

async fn is_settled(site: &Site) -> bool {
    for (path, member) in [
        ("/api/agents/1", "lastSeen"),
        ("/api/tools/3", "lastSeen"),
        ("/api/compute/4", "lastSeen"),
        ("/api/bounties/2", "completedAt"),
        ("/api/arena/challenges/1", "awardedAt"),
    ] {
        if site.get(path).await.json()[member].is_null() {
            return false;
        }
    }
    true
}

/// Reads what no call of [`calls`] asks for.
pub fn further_reads() -> Vec<Call> {
    vec![
        Call::get("list_work", "/api/work").query("agentId=1"),
        Call::get("get_page", "/api/kb/how-to-rest"),
        Call::get("list_pages", "/api/kb"),
    ]
}
