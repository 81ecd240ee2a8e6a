//! The plugin of tests and benchmarks on the dev network: agents and jobs as their contracts tell of them.

use plugin_api::{
    Address, ConfigError, Definition, Grants, Hash256, HostError, HostErrorCode, HostHandle, Migration, NoConfig,
    Plugin, PluginContext, Query as _, Tx,
    abi::PluginModule_Ref,
    chain::EventFilter,
    contracts::{ChainEvent, chain_int},
    host::Identity,
    manifest::{Manifest, SubscriptionSpec},
    point::Point,
    sql,
    stream::EventBuilder,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const TABLES: [&str; 3] = ["mirror_agents", "mirror_jobs", "mirror_steps"];
const MIGRATION: &str = "
CREATE TABLE mirror_agents (
    id BIGINT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    price TEXT NOT NULL,
    status BIGINT NOT NULL,
    paid TEXT NOT NULL,
    jobs BIGINT NOT NULL,
    changed_s BIGINT NOT NULL
);
CREATE TABLE mirror_jobs (
    id BIGINT PRIMARY KEY,
    agent BIGINT NOT NULL,
    client TEXT NOT NULL,
    amount TEXT NOT NULL,
    state TEXT NOT NULL,
    rating BIGINT,
    input_hash {{blob}} NOT NULL
);
CREATE TABLE mirror_steps (
    tx TEXT NOT NULL,
    nth BIGINT NOT NULL,
    block BIGINT NOT NULL,
    event TEXT NOT NULL,
    subject BIGINT NOT NULL,
    PRIMARY KEY (tx, nth)
);
";

/// The extension point through which a test makes quorum requests.
pub const QUORUM: Point<Value, Value> = Point::new("mirror_agreed");

pub struct Mirror;

impl Identity for Mirror {
    const NAME: &'static str = "mirror";
    const VERSION: &'static str = "1.0.0";
    const SUMMARY: &'static str = "Agents and jobs as their contracts tell of them";
}

#[derive(Deserialize)]
struct AgentRegistered {
    #[serde(deserialize_with = "chain_int")]
    id: i64,
    owner: Address,
    name: String,
    endpoint: String,
    #[serde(rename = "pricePerJob")]
    price: String,
}

#[derive(Deserialize)]
struct AgentUpdated {
    #[serde(deserialize_with = "chain_int")]
    id: i64,
    endpoint: String,
    #[serde(rename = "pricePerJob")]
    price: String,
}

#[derive(Deserialize)]
struct AgentStatusChanged {
    #[serde(deserialize_with = "chain_int")]
    id: i64,
    status: u8,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JobRequested {
    #[serde(deserialize_with = "chain_int")]
    job_id: i64,
    #[serde(deserialize_with = "chain_int")]
    agent_id: i64,
    client: Address,
    amount: String,
    input_hash: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JobCompleted {
    #[serde(deserialize_with = "chain_int")]
    job_id: i64,
    agent_payout: String,
    rating: u8,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JobStep {
    #[serde(deserialize_with = "chain_int")]
    job_id: i64,
}

impl Plugin for Mirror {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        let job = |name: &str, args: &str| format!("{name}(uint256 indexed jobId{args})");
        Definition::new()
            .migrations([Migration::new(1, "create", MIGRATION)])
            .on_chain_event(
                "registry",
                "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, \
                 string metadataURI, uint256 pricePerJob, uint256 bond)",
                &TABLES,
                registered,
            )
            .on_chain_event(
                "registry",
                "AgentUpdated(uint256 indexed id, string endpoint, string metadataURI, uint256 pricePerJob)",
                &TABLES,
                updated,
            )
            .on_chain_event(
                "registry",
                "AgentStatusChanged(uint256 indexed id, uint8 status)",
                &TABLES,
                status_changed,
            )
            .on_chain_event(
                "escrow",
                &job(
                    "JobRequested",
                    ", uint256 indexed agentId, address indexed client, uint256 amount, bytes32 inputHash, string inputURI",
                ),
                &TABLES,
                requested,
            )
            .on_chain_event("escrow", &job("JobDelivered", ", bytes32 outputHash, string outputURI"), &TABLES, stepped)
            .on_chain_event("escrow", &job("JobRefunded", ", uint256 amount, bool byAgent"), &TABLES, stepped)
            .on_chain_event("escrow", &job("JobDisputed", ""), &TABLES, stepped)
            .on_chain_event(
                "escrow",
                &job("JobCompleted", ", uint256 agentPayout, uint256 fee, uint8 rating"),
                &TABLES,
                completed,
            )
            .publishes(&["mirror.job"])
            .grants(Grants { chains: vec!["main".into()], ..Grants::default() })
            .contributes(QUORUM, quorum_responses)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

async fn registered(_: PluginContext<Mirror>, tx: Tx, event: ChainEvent<AgentRegistered>) -> Result<(), HostError> {
    let AgentRegistered { id, owner, name, endpoint, price } = &event.args;
    let text = "INSERT INTO mirror_agents (id, owner, name, endpoint, price, status, paid, jobs, changed_s) \
         VALUES ($1, $2, $3, $4, $5, 0, '0', 0, $6)";
    tx.defer(sql(text).bind(*id).bind(*owner).bind(name).bind(endpoint).bind(price).bind(event.time_s))?;
    step(&tx, &event, *id).await
}

async fn updated(_: PluginContext<Mirror>, tx: Tx, event: ChainEvent<AgentUpdated>) -> Result<(), HostError> {
    let AgentUpdated { id, endpoint, price } = &event.args;
    let text = "UPDATE mirror_agents SET endpoint = $2, price = $3, changed_s = $4 WHERE id = $1";
    tx.defer(sql(text).bind(*id).bind(endpoint).bind(price).bind(event.time_s))?;
    step(&tx, &event, *id).await
}

async fn status_changed(
    _: PluginContext<Mirror>,
    tx: Tx,
    event: ChainEvent<AgentStatusChanged>,
) -> Result<(), HostError> {
    let AgentStatusChanged { id, status } = event.args;
    let text = "UPDATE mirror_agents SET status = $2, changed_s = $3 WHERE id = $1";
    tx.defer(sql(text).bind(id).bind(status).bind(event.time_s))?;
    step(&tx, &event, id).await
}

async fn requested(_: PluginContext<Mirror>, tx: Tx, event: ChainEvent<JobRequested>) -> Result<(), HostError> {
    let JobRequested { job_id, agent_id, client, amount, input_hash } = &event.args;
    let hash = hex::decode(input_hash.trim_start_matches("0x")).unwrap_or_default();
    let text = "INSERT INTO mirror_jobs (id, agent, client, amount, state, rating, input_hash) \
         VALUES ($1, $2, $3, $4, 'JobRequested', NULL, $5)";
    tx.defer(sql(text).bind(*job_id).bind(*agent_id).bind(*client).bind(amount).bind(hash))?;
    step(&tx, &event, *job_id).await?;
    publish(&tx, &event, *job_id)
}

async fn stepped(_: PluginContext<Mirror>, tx: Tx, event: ChainEvent<JobStep>) -> Result<(), HostError> {
    let id = event.args.job_id;
    tx.defer(sql("UPDATE mirror_jobs SET state = $2 WHERE id = $1").bind(id).bind(&event.event))?;
    step(&tx, &event, id).await?;
    publish(&tx, &event, id)
}

/// Reads before it writes, so that an event that is applied twice, or not undone, shows in a sum.
async fn completed(_: PluginContext<Mirror>, tx: Tx, event: ChainEvent<JobCompleted>) -> Result<(), HostError> {
    let JobCompleted { job_id, agent_payout, rating } = &event.args;
    tx.defer(
        sql("UPDATE mirror_jobs SET state = 'JobCompleted', rating = $2 WHERE id = $1").bind(*job_id).bind(*rating),
    )?;
    let of_agent =
        "SELECT a.id, a.paid FROM mirror_jobs AS j JOIN mirror_agents AS a ON a.id = j.agent WHERE j.id = $1";
    if let Some((agent, paid)) = tx.row::<(i64, String)>(sql(of_agent).bind(*job_id)).await? {
        let sum = wei(&paid).wrapping_add(wei(agent_payout)).to_string();
        let text = "UPDATE mirror_agents SET paid = $2, jobs = jobs + 1, changed_s = $3 WHERE id = $1";
        tx.defer(sql(text).bind(agent).bind(sum).bind(event.time_s))?;
    }
    step(&tx, &event, *job_id).await?;
    publish(&tx, &event, *job_id)
}

/// Inserts a row for each event, numbered by the count of earlier rows of its transaction.
async fn step<Args>(tx: &Tx, event: &ChainEvent<Args>, subject: i64) -> Result<(), HostError> {
    let text = "INSERT INTO mirror_steps (tx, nth, block, event, subject) \
         SELECT $1, count(*), $2, $3, $4 FROM mirror_steps WHERE tx = $1";
    let block = i64::try_from(event.block).unwrap_or_default();
    tx.defer(sql(text).bind(event.tx).bind(block).bind(&event.event).bind(subject))
}

#[derive(Deserialize)]
struct QuorumInput {
    account: Address,
    contract: Address,
    event: String,
    tx: Hash256,
}

fn filter(input: &QuorumInput) -> Result<EventFilter, HostError> {
    EventFilter::new(input.contract, &input.event).any_of("jobId", &[1])
}

/// Each response, or its error.
async fn quorum_responses(gateway: PluginContext<Mirror>, input: Value) -> Result<Value, HostError> {
    let input: QuorumInput =
        serde_json::from_value(input).map_err(|error| HostError::new(HostErrorCode::Invalid, error.to_string()))?;
    let chain = gateway.chain("main").quorum();
    let head = chain.head().await;
    let logs = match &head {
        Ok(head) => chain.logs::<Value>(filter(&input)?, 0, head.number).await,
        Err(error) => Err(error.clone()),
    };
    let transactions = match &head {
        Ok(head) => chain.transactions(head.number).await,
        Err(error) => Err(error.clone()),
    };
    Ok(json!({
        "head": result_json(head),
        "transactions": result_json(transactions),
        "finalized": result_json(chain.finalized().await),
        "balance": result_json(chain.balance(input.account, None).await),
        "receipt": result_json(chain.receipt(input.tx).await),
        "logs": result_json(logs.map(|logs| logs.len())),
        "code": result_json(chain.code(input.contract).await.map(|code| code.len())),
    }))
}

fn result_json<T: Serialize>(result: Result<T, HostError>) -> Value {
    result.map_or_else(|error| json!({ "error": error.message.as_str() }), |value| json!(value))
}

fn publish<Args>(tx: &Tx, event: &ChainEvent<Args>, job: i64) -> Result<(), HostError> {
    let data = json!({ "job": job, "event": event.event, "tx": event.tx, "block": event.block });
    EventBuilder::new("mirror.job", &data).subject("job", job).publish(tx)
}

fn wei(text: &str) -> alloy_primitives::U256 {
    text.parse().unwrap_or_default()
}

/// The first topics of the events that it derives from.
pub fn events() -> anyhow::Result<Vec<alloy_primitives::B256>> {
    let manifest = (module().manifest())().into_result().map_err(|fault| anyhow::anyhow!("{}", fault.message))?;
    let manifest: Manifest = serde_json::from_slice(&manifest)?;
    let topic = |spec: &SubscriptionSpec| Ok(alloy::json_abi::Event::parse(&spec.event)?.selector());
    manifest.subscriptions.iter().map(topic).collect()
}

pub fn module() -> PluginModule_Ref {
    plugin_api::host::object_module::<Mirror>()
}
