//! Events of the contracts, for scripted blocks.

use plugin_testing::{ScriptedLog, json};

const REGISTERED: &str = "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, string metadataURI, uint256 pricePerJob, uint256 bond)";
const UPDATED: &str = "AgentUpdated(uint256 indexed id, string endpoint, string metadataURI, uint256 pricePerJob)";
const STATUS_CHANGED: &str = "AgentStatusChanged(uint256 indexed id, uint8 status)";
const BOND_CHANGED: &str = "BondChanged(uint256 indexed id, uint256 bond)";
const SLASHED: &str = "AgentSlashed(uint256 indexed id, uint256 amount, address to, string reason)";
const OUTCOME: &str = "OutcomeRecorded(uint256 indexed id, bool success, uint8 rating)";
const TRANSFERRED: &str = "OwnershipTransferred(uint256 indexed id, address indexed from, address indexed to)";
const REQUESTED: &str = "JobRequested(uint256 indexed jobId, uint256 indexed agentId, address indexed client, uint256 amount, bytes32 inputHash, string inputURI)";
const DELIVERED: &str = "JobDelivered(uint256 indexed jobId, bytes32 outputHash, string outputURI)";
const COMPLETED: &str = "JobCompleted(uint256 indexed jobId, uint256 agentPayout, uint256 fee, uint8 rating)";
const REFUNDED: &str = "JobRefunded(uint256 indexed jobId, uint256 amount, bool byAgent)";
const DISPUTED: &str = "JobDisputed(uint256 indexed jobId)";
const RESOLVED: &str = "JobResolved(uint256 indexed jobId, uint256 clientAmount, uint256 agentPayout, uint256 fee)";
const VALIDATION_REQUEST: &str = "ValidationRequest(address indexed validatorAddress, uint256 indexed agentId, string requestURI, bytes32 indexed requestHash)";
const VALIDATION_RESPONSE: &str = "ValidationResponse(address indexed validatorAddress, uint256 indexed agentId, bytes32 indexed requestHash, uint8 response, string responseURI, bytes32 responseHash, string tag)";
const FEEDBACK: &str = "NewFeedback(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, int128 value, uint8 valueDecimals, string indexed indexedTag1, string tag1, string tag2, string endpoint, string feedbackURI, bytes32 feedbackHash)";
const FEEDBACK_REVOKED: &str =
    "FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex)";

/// Address of account `n`, without letters, so that checksum case does not matter.
pub fn account(n: u64) -> String {
    format!("0x{n:040}")
}

/// A hash that ends with the number.
pub fn hash(n: u64) -> String {
    format!("0x{n:064}")
}

pub const ACTIVE: u8 = 1;
pub const PAUSED: u8 = 2;
pub const RETIRED: u8 = 3;

fn registry(event: &str, arguments: &[plugin_testing::Value]) -> ScriptedLog {
    ScriptedLog::new("registry", event, arguments)
}

fn escrow(event: &str, arguments: &[plugin_testing::Value]) -> ScriptedLog {
    ScriptedLog::new("escrow", event, arguments)
}

/// Agent `id` of account `id`, named `agent <id>`, without an endpoint.
pub fn agent(id: u64) -> Vec<ScriptedLog> {
    registered(id, id, &format!("agent {id}"), "")
}

/// Agents 1 to `count`, each with only the first event of its registration.
pub fn many_agents(count: u64) -> Vec<Vec<ScriptedLog>> {
    vec![(1..=count).map(|id| agent(id).swap_remove(0)).collect()]
}

/// The three events of a registration.
pub fn registered(id: u64, owner: u64, name: &str, endpoint: &str) -> Vec<ScriptedLog> {
    registered_by(id, &account(owner), name, endpoint)
}

/// The same for an owner with any address.
pub fn registered_by(id: u64, owner: &str, name: &str, endpoint: &str) -> Vec<ScriptedLog> {
    let arguments =
        [json!(id), json!(owner), json!(name), json!(endpoint), json!("ipfs://m"), json!("5"), json!("100")];
    let name = format!("registration {id} of {owner}");
    let logs = [registry(REGISTERED, &arguments), status(id, ACTIVE), bond(id, "100")];
    logs.map(|log| log.in_transaction(&name)).into()
}

pub fn updated(id: u64, endpoint: &str, metadata: &str, price: &str) -> ScriptedLog {
    registry(UPDATED, &[json!(id), json!(endpoint), json!(metadata), json!(price)])
}

pub fn status(id: u64, status: u8) -> ScriptedLog {
    registry(STATUS_CHANGED, &[json!(id), json!(status)])
}

pub fn bond(id: u64, bond: &str) -> ScriptedLog {
    registry(BOND_CHANGED, &[json!(id), json!(bond)])
}

pub fn slashed(id: u64, amount: &str) -> ScriptedLog {
    registry(SLASHED, &[json!(id), json!(amount), json!(account(1)), json!("because")])
}

pub fn outcome(id: u64, success: bool, rating: u8) -> ScriptedLog {
    registry(OUTCOME, &[json!(id), json!(success), json!(rating)])
}

pub fn transferred(id: u64, from: u64, to: u64) -> ScriptedLog {
    transferred_by(id, &account(from), &account(to))
}

pub fn transferred_by(id: u64, from: &str, to: &str) -> ScriptedLog {
    registry(TRANSFERRED, &[json!(id), json!(from), json!(to)])
}

pub fn requested(job: u64, agent: u64, client: u64, amount: &str) -> ScriptedLog {
    requested_by(job, agent, &account(client), amount, "fmx://payload/in")
}

/// A job of any client, with any input.
pub fn requested_by(job: u64, agent: u64, client: &str, amount: &str, uri: &str) -> ScriptedLog {
    let arguments = [json!(job), json!(agent), json!(client), json!(amount), json!(hash(job)), json!(uri)];
    escrow(REQUESTED, &arguments)
}

pub fn delivered(job: u64, output: u64, uri: &str) -> ScriptedLog {
    escrow(DELIVERED, &[json!(job), json!(hash(output)), json!(uri)])
}

/// The fee is 1.
pub fn completed(job: u64, payout: &str, rating: u8) -> ScriptedLog {
    escrow(COMPLETED, &[json!(job), json!(payout), json!("1"), json!(rating)])
}

pub fn refunded(job: u64, amount: &str, by_agent: bool) -> ScriptedLog {
    escrow(REFUNDED, &[json!(job), json!(amount), json!(by_agent)])
}

pub fn disputed(job: u64) -> ScriptedLog {
    escrow(DISPUTED, &[json!(job)])
}

pub fn resolved(job: u64, client_amount: &str, payout: &str) -> ScriptedLog {
    escrow(RESOLVED, &[json!(job), json!(client_amount), json!(payout), json!("1")])
}

/// A job from request to release, with the registry's outcome event.
pub fn done(job: u64, agent: u64, client: u64, amount: &str, rating: u8) -> Vec<ScriptedLog> {
    vec![
        requested(job, agent, client, amount),
        delivered(job, job, "fmx://payload/out"),
        completed(job, amount, rating),
        outcome(agent, true, rating),
    ]
}

pub fn validation_requested(validator: u64, agent: u64, uri: &str, request: u64) -> ScriptedLog {
    let arguments = [json!(account(validator)), json!(agent), json!(uri), json!(hash(request))];
    ScriptedLog::new("validation8004", VALIDATION_REQUEST, &arguments)
}

pub fn validated(validator: u64, agent: u64, request: u64, response: u8) -> ScriptedLog {
    let arguments = [
        json!(account(validator)),
        json!(agent),
        json!(hash(request)),
        json!(response),
        json!("fmx://payload/judgement"),
        json!(hash(0)),
        json!("quality"),
    ];
    ScriptedLog::new("validation8004", VALIDATION_RESPONSE, &arguments)
}

pub fn feedback(agent: u64, client: u64, index: u64, value: &str) -> ScriptedLog {
    feedback_tagged(agent, client, index, value, "tag")
}

pub fn feedback_tagged(agent: u64, client: u64, index: u64, value: &str, tag: &str) -> ScriptedLog {
    let arguments = [
        json!(agent),
        json!(account(client)),
        json!(index),
        json!(value),
        json!(2),
        json!(tag),
        json!(tag),
        json!(""),
        json!("https://e"),
        json!("ipfs://f"),
        json!(hash(9)),
    ];
    ScriptedLog::new("reputation8004", FEEDBACK, &arguments)
}

pub fn feedback_revoked(agent: u64, client: u64, index: u64) -> ScriptedLog {
    let arguments = [json!(agent), json!(account(client)), json!(index)];
    ScriptedLog::new("reputation8004", FEEDBACK_REVOKED, &arguments)
}
