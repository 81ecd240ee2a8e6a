//! Events of the contracts that the arena needs, and a test plugin that collects work.

use plugin_api::{
    ConfigError, Definition, HandlerError, HostHandle, Json, JsonBody, NoConfig, Plugin, RequestContext, Route,
    abi::PluginModule_Ref,
    host::Identity,
    point::{Point, WorkInput},
};
use plugin_testing::{ScriptedLog, Value, json};

const REGISTERED: &str = "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, string metadataURI, uint256 pricePerJob, uint256 bond)";
const STATUS_CHANGED: &str = "AgentStatusChanged(uint256 indexed id, uint8 status)";
const REQUESTED: &str = "JobRequested(uint256 indexed jobId, uint256 indexed agentId, address indexed client, uint256 amount, bytes32 inputHash, string inputURI)";

pub const ACTIVE: u8 = 1;
pub const PAUSED: u8 = 2;

/// Agent `id`, named `agent <id>`, active.
pub fn registered(id: u64, owner: &str) -> Vec<ScriptedLog> {
    let name = format!("agent {id}");
    let arguments = [json!(id), json!(owner), json!(name), json!(""), json!("ipfs://m"), json!("5"), json!("100")];
    let logs = [ScriptedLog::new("registry", REGISTERED, &arguments), status(id, ACTIVE)];
    logs.map(|log| log.in_transaction(&format!("registration {id}"))).into()
}

pub fn status(id: u64, status: u8) -> ScriptedLog {
    ScriptedLog::new("registry", STATUS_CHANGED, &[json!(id), json!(status)])
}

/// A job of `client` for an agent, with this input.
pub fn requested(job: u64, agent: u64, client: &str, input_uri: &str) -> ScriptedLog {
    let hash = format!("0x{job:064}");
    let arguments = [json!(job), json!(agent), json!(client), json!("5"), json!(hash), json!(input_uri)];
    ScriptedLog::new("escrow", REQUESTED, &arguments)
}

/// A test plugin that collects work, as the plugin `work` does.
struct Worker;

impl Identity for Worker {
    const NAME: &'static str = "worker";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Asks for work";
}

impl Plugin for Worker {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new().routes([Route::post("/api/worker", list_work).public()])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn list_work(
    cx: RequestContext<Worker>,
    JsonBody(question): JsonBody<Value>,
) -> Result<Json<Vec<Value>>, HandlerError> {
    let question: WorkInput = serde_json::from_value(question).unwrap();
    let parts = cx.collect(Point::<_, Vec<Value>>::new("work"), &question).await?;
    Ok(Json(parts.into_iter().flat_map(|(_, items)| items).collect()))
}

pub fn worker() -> PluginModule_Ref {
    plugin_api::host::object_module::<Worker>()
}
