//! The plugin whose back-fill is measured: a row for each event of agents and jobs, as the peers derive it.

use alloy::json_abi;
use alloy_primitives::B256;
use anyhow::Result;
use plugin_api::{
    ConfigError, Definition, HostError, HostHandle, Migration, NoConfig, Plugin, PluginContext, Tx,
    abi::{HostErrorCode, PluginModule_Ref},
    contracts::ChainEvent,
    host::Identity,
    sql,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::{
    borrow::Cow,
    fmt::{Display, Write as _},
};

/// Events by the contract that tells of them.
const EVENTS: [(&str, &str); 8] = [
    (
        "registry",
        "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, string metadataURI, \
         uint256 pricePerJob, uint256 bond)",
    ),
    ("registry", "AgentUpdated(uint256 indexed id, string endpoint, string metadataURI, uint256 pricePerJob)"),
    ("registry", "AgentStatusChanged(uint256 indexed id, uint8 status)"),
    (
        "escrow",
        "JobRequested(uint256 indexed jobId, uint256 indexed agentId, address indexed client, uint256 amount, \
         bytes32 inputHash, string inputURI)",
    ),
    ("escrow", "JobDelivered(uint256 indexed jobId, bytes32 outputHash, string outputURI)"),
    ("escrow", "JobRefunded(uint256 indexed jobId, uint256 amount, bool byAgent)"),
    ("escrow", "JobDisputed(uint256 indexed jobId)"),
    ("escrow", "JobCompleted(uint256 indexed jobId, uint256 agentPayout, uint256 fee, uint8 rating)"),
];
const TABLE: &str = "CREATE TABLE steps_steps (id TEXT PRIMARY KEY, block BIGINT NOT NULL, event TEXT NOT NULL, \
     subject TEXT NOT NULL, args TEXT NOT NULL);";

struct Steps;

impl Identity for Steps {
    const NAME: &'static str = "steps";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "A row for each event of agents and jobs";
}

impl Plugin for Steps {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        let definition = Definition::new().migrations([Migration::new(1, "create", TABLE)]);
        EVENTS.iter().fold(definition, |definition, (contract, event)| {
            definition.on_chain_event(contract, event, &["steps_steps"], step)
        })
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

/// The record that an event is about.
#[derive(Deserialize)]
struct Subject<'a> {
    #[serde(alias = "jobId", borrow)]
    id: Cow<'a, str>,
}

async fn step(_: PluginContext<Steps>, tx: Tx, event: ChainEvent<Box<RawValue>>) -> Result<(), HostError> {
    let invalid = |error: &dyn Display| HostError::new(HostErrorCode::Invalid, error.to_string());
    let subject: Subject<'_> = serde_json::from_str(event.args.get()).map_err(|error| invalid(&error))?;
    let subject = subject.id.into_owned();
    let insert = "INSERT INTO steps_steps (id, block, event, subject, args) VALUES ($1, $2, $3, $4, $5)";
    let block = i64::try_from(event.block).unwrap_or_default();
    let mut id = String::with_capacity("0123456789-012345".len());
    write!(id, "{block:010}-{:06}", event.log_index).map_err(|error| invalid(&error))?;
    let args = String::from(Box::<str>::from(event.args));
    tx.defer(sql(insert).bind(id).bind(block).bind(event.event).bind(subject).bind(args))
}

/// The first topics of the events.
pub fn topics() -> Result<Vec<B256>> {
    EVENTS.iter().map(|(_, event)| Ok(json_abi::Event::parse(event)?.selector())).collect()
}

pub fn module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Steps>()
}
