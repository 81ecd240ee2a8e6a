//! The stored logs that the plugin `audit` publishes, by a plugin of that name for these tests: what `aicv` checks claims against.

use plugin_api::{
    ConfigError, Definition, Hash256, HostError, HostHandle, Migration, NoConfig, Plugin, PluginContext, Tx,
    abi::PluginModule_Ref, contracts::ChainEvent, host::Identity, sql,
};
use serde_json::Value;

struct Audit;

impl Identity for Audit {
    const NAME: &'static str = "audit";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Stores the logs of these tests";
}

const CREATE: &str = "CREATE TABLE audit_logs (block BIGINT NOT NULL, block_hash TEXT NOT NULL, time_s BIGINT NOT NULL, \
    tx TEXT NOT NULL, log_index BIGINT NOT NULL, contract TEXT NOT NULL, address TEXT NOT NULL, event TEXT NOT NULL, \
    signature TEXT NOT NULL, topic0 TEXT NOT NULL, args TEXT NOT NULL, agent_id BIGINT, PRIMARY KEY (tx, log_index));
CREATE VIEW chain_logs_v1 AS SELECT block, block_hash, time_s, tx, log_index, contract, address, event, signature, topic0, args, \
    agent_id FROM audit_logs";

/// Contract and event, as in Solidity.
const EVENTS: [(&str, &str); 13] = [
    (
        "registry",
        "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, string metadataURI, uint256 pricePerJob, uint256 bond)",
    ),
    (
        "escrow",
        "JobRequested(uint256 indexed jobId, uint256 indexed agentId, address indexed client, uint256 amount, bytes32 inputHash, string inputURI)",
    ),
    ("escrow", "JobDelivered(uint256 indexed jobId, bytes32 outputHash, string outputURI)"),
    ("escrow", "JobCompleted(uint256 indexed jobId, uint256 agentPayout, uint256 fee, uint8 rating)"),
    ("escrow", "JobRefunded(uint256 indexed jobId, uint256 amount, bool byAgent)"),
    ("escrow", "JobResolved(uint256 indexed jobId, uint256 clientAmount, uint256 agentPayout, uint256 fee)"),
    (
        "x402Vault",
        "Settled(address indexed payer, address indexed payee, uint256 amount, uint256 fee, uint256 nonce, bytes32 ref)",
    ),
    (
        "reputation8004",
        "NewFeedback(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, int128 value, uint8 valueDecimals, string indexed indexedTag1, string tag1, string tag2, string endpoint, string feedbackURI, bytes32 feedbackHash)",
    ),
    (
        "validation8004",
        "ValidationRequest(address indexed validatorAddress, uint256 indexed agentId, string requestURI, bytes32 indexed requestHash)",
    ),
    (
        "validation8004",
        "ValidationResponse(address indexed validatorAddress, uint256 indexed agentId, bytes32 indexed requestHash, uint8 response, string responseURI, bytes32 responseHash, string tag)",
    ),
    (
        "memoryAnchor",
        "MemoryAnchored(uint256 indexed agentId, uint64 indexed seq, bytes32 indexed root, bytes32 prevRoot, uint32 count, uint64 totalRecords, address anchoredBy, string uri)",
    ),
    (
        "endorsements",
        "Endorsed(uint256 indexed id, uint256 indexed fromAgentId, uint256 indexed toAgentId, bytes32 capabilityId, string capability, uint8 basis, uint32 weight, uint64 evidenceJobId, uint256 evidenceAmountWei, string uri)",
    ),
    (
        "identity8004",
        "MetadataSet(uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue)",
    ),
];

impl Plugin for Audit {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        let definition = Definition::new().migrations([Migration::new(1, "create", CREATE)]).views(&["chain_logs_v1"]);
        EVENTS.iter().fold(definition, |definition, (contract, event)| {
            let signature = canonical(event);
            definition.on_chain_event(contract, event, &["audit_logs"], move |_: PluginContext<Self>, tx, event| {
                store(tx, event, signature.clone())
            })
        })
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

/// `JobDelivered(uint256,bytes32,string)`.
fn canonical(event: &str) -> String {
    let (name, arguments) = event.trim_end_matches(')').split_once('(').unwrap();
    let types: Vec<&str> = arguments.split(", ").map(|argument| argument.split(' ').next().unwrap()).collect();
    format!("{name}({})", types.join(","))
}

async fn store(tx: Tx, event: ChainEvent<Value>, signature: String) -> Result<(), HostError> {
    let agent = ["agentId", "toAgentId"].iter().find_map(|name| event.args.get(*name));
    let agent = agent.or(event.args.get("id").filter(|_| event.contract == "registry"));
    let agent = agent.and_then(|agent| agent.as_i64().or_else(|| agent.as_str()?.parse().ok()));
    let number = |number: u64| i64::try_from(number).unwrap();
    tx.defer(
        sql("INSERT INTO audit_logs (block, block_hash, time_s, tx, log_index, contract, address, event, signature, topic0, args, \
             agent_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)")
        .bind((number(event.block), event.log.block_hash, event.time_s, event.tx, number(event.log_index)))
        .bind((&event.contract, event.address, &event.event, &signature, Hash256::keccak(signature.as_bytes())))
        .bind((event.args.to_string(), agent)),
    )
}

pub fn module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Audit>()
}
