//! Events of the contracts that concern wallets.

use plugin_testing::{ScriptedLog, Wallet, json};

/// A hash that ends with the number.
pub fn hash(n: u64) -> String {
    format!("0x{n:064}")
}

pub fn agent(id: u64, owner: &Wallet) -> ScriptedLog {
    let event = "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, string metadataURI, \
        uint256 pricePerJob, uint256 bond)";
    let (owner, name) = (owner.address(), format!("agent {id}"));
    let arguments = [json!(id), json!(owner), json!(name), json!(""), json!(""), json!("5"), json!("100")];
    ScriptedLog::new("registry", event, &arguments)
}

pub fn requested(job: u64, agent: u64, client: &Wallet) -> ScriptedLog {
    let event = "JobRequested(uint256 indexed jobId, uint256 indexed agentId, address indexed client, uint256 amount, \
        bytes32 inputHash, string inputURI)";
    let arguments =
        [json!(job), json!(agent), json!(client.address()), json!("7"), json!(hash(job)), json!("ipfs://in")];
    ScriptedLog::new("escrow", event, &arguments)
}

pub fn delivered(job: u64) -> ScriptedLog {
    let event = "JobDelivered(uint256 indexed jobId, bytes32 outputHash, string outputURI)";
    ScriptedLog::new("escrow", event, &[json!(job), json!(hash(9)), json!("ipfs://out")])
}

pub fn completed(job: u64) -> ScriptedLog {
    let event = "JobCompleted(uint256 indexed jobId, uint256 agentPayout, uint256 fee, uint8 rating)";
    ScriptedLog::new("escrow", event, &[json!(job), json!("6"), json!("1"), json!(5)])
}

pub fn refunded(job: u64) -> ScriptedLog {
    let event = "JobRefunded(uint256 indexed jobId, uint256 amount, bool byAgent)";
    ScriptedLog::new("escrow", event, &[json!(job), json!("7"), json!(true)])
}

pub fn disputed(job: u64) -> ScriptedLog {
    ScriptedLog::new("escrow", "JobDisputed(uint256 indexed jobId)", &[json!(job)])
}

pub fn resolved(job: u64) -> ScriptedLog {
    let event = "JobResolved(uint256 indexed jobId, uint256 clientAmount, uint256 agentPayout, uint256 fee)";
    ScriptedLog::new("escrow", event, &[json!(job), json!("3"), json!("3"), json!("1")])
}

pub fn stream_opened(id: u64, payer: &Wallet, payee: &Wallet) -> ScriptedLog {
    let event = "StreamOpened(uint256 indexed id, address indexed payer, address indexed payee, uint256 ratePerSec, \
        uint256 deposit, uint64 start, uint64 stop)";
    let (payer, payee) = (payer.address(), payee.address());
    let arguments = [json!(id), json!(payer), json!(payee), json!("2"), json!("200"), json!(10), json!(110)];
    ScriptedLog::new("streamPay", event, &arguments)
}

pub fn plan_created(id: u64, payee: &Wallet) -> ScriptedLog {
    let event = "PlanCreated(uint256 indexed planId, address indexed payee, uint256 pricePerPeriod, uint64 period, \
        string metadataURI)";
    let arguments = [json!(id), json!(payee.address()), json!("3"), json!(60), json!("ipfs://plan")];
    ScriptedLog::new("streamPay", event, &arguments)
}

pub fn subscribed(id: u64, plan: u64, payer: &Wallet) -> ScriptedLog {
    let event = "Subscribed(uint256 indexed subId, uint256 indexed planId, address indexed payer, uint32 periods, \
        uint64 paidThrough)";
    let arguments = [json!(id), json!(plan), json!(payer.address()), json!(2), json!(120)];
    ScriptedLog::new("streamPay", event, &arguments)
}

pub fn case_opened(id: u64, job: u64, opener: &Wallet) -> ScriptedLog {
    let event = "CaseOpened(uint256 indexed caseId, uint256 indexed jobId, address indexed opener, string evidenceURI)";
    let arguments = [json!(id), json!(job), json!(opener.address()), json!("ipfs://evidence")];
    ScriptedLog::new("arbiterPool", event, &arguments)
}

pub fn validation_requested(agent: u64, validator: &Wallet, request: u64) -> ScriptedLog {
    let event = "ValidationRequest(address indexed validatorAddress, uint256 indexed agentId, string requestURI, \
        bytes32 indexed requestHash)";
    let arguments = [json!(validator.address()), json!(agent), json!("ipfs://request"), json!(hash(request))];
    ScriptedLog::new("validation8004", event, &arguments)
}

pub fn validated(agent: u64, validator: &Wallet, request: u64) -> ScriptedLog {
    let event = "ValidationResponse(address indexed validatorAddress, uint256 indexed agentId, bytes32 indexed requestHash, \
        uint8 response, string responseURI, bytes32 responseHash, string tag)";
    let (validator, request) = (validator.address(), hash(request));
    let arguments = [
        json!(validator),
        json!(agent),
        json!(request),
        json!(88),
        json!("ipfs://judgement"),
        json!(hash(0)),
        json!("quality"),
    ];
    ScriptedLog::new("validation8004", event, &arguments)
}
