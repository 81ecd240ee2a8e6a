//! Events of the activity log. Clients depend on these members: wire names, public data only.

use super::{AgentId, AgentRecord, AgentStatus, JobId, JobStatus};
use plugin_api::{Address, ChainEvent, EventBuilder, Hash256, HostError, Wei};
use serde::{Deserialize, Serialize};

pub const EVENT_TYPES: [&str; 11] = [
    "agent.registered",
    "agent.updated",
    "job.requested",
    "job.delivered",
    "job.completed",
    "job.refunded",
    "job.disputed",
    "job.resolved",
    "feedback.given",
    "validation.requested",
    "validation.done",
];

/// An agent after the event.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentFacts<'a> {
    agent_id: AgentId,
    name: &'a str,
    endpoint: &'a str,
    price_per_job: Wei,
    status: AgentStatus,
}

/// A job after the event.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase"))]
pub struct JobFacts {
    pub job_id: JobId,
    pub agent_id: AgentId,
    pub agent_name: Option<String>,
    pub owner: Option<Address>,
    pub client: Address,
    pub amount: Wei,
    pub status: JobStatus,
    /// Only of a completed job with a rating.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<u8>,
    /// Only of a refunded job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_agent: Option<bool>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FeedbackFacts<'a> {
    pub agent_id: AgentId,
    pub client: Address,
    /// An integer; divide it by ten to the power of the decimals.
    pub value: &'a str,
    pub value_decimals: u8,
    pub tag1: &'a str,
    pub tag2: &'a str,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged, rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ValidationFacts<'a> {
    Requested {
        agent_id: AgentId,
        validator: Address,
        request_hash: Hash256,
        #[serde(rename = "requestURI")]
        request_uri: &'a str,
    },
    Done {
        agent_id: AgentId,
        agent_name: Option<String>,
        request_hash: Hash256,
        response: u8,
        #[serde(rename = "responseURI")]
        response_uri: &'a str,
        tag: &'a str,
    },
}

/// The data of an event with its position on the chain.
#[derive(Serialize)]
struct ChainEventData<'a, Data> {
    #[serde(flatten)]
    data: &'a Data,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contract: Option<&'a str>,
    tx: Hash256,
    block: u64,
}

/// `agent.registered`, or `agent.updated` for later changes.
pub fn agent_event<Args>(agent: &AgentRecord, log: &ChainEvent<Args>) -> Result<EventBuilder, HostError> {
    let kind = if log.event == "AgentRegistered" { "agent.registered" } else { "agent.updated" };
    let AgentRecord { id, name, endpoint, price_per_job, status, .. } = agent;
    let data = AgentFacts { agent_id: *id, name, endpoint, price_per_job: *price_per_job, status: *status };
    let event_data =
        ChainEventData { data: &data, event: Some(&log.event), contract: None, tx: log.tx, block: log.block };
    Ok(EventBuilder::new(kind, &event_data).actor(agent.owner).subject("agent", *id))
}

/// `kind` is for example `job.requested`; `actor` is the account that acted, `None` for an arbiter.
pub fn job_event<Args>(
    kind: &str,
    job: &JobFacts,
    actor: Option<Address>,
    log: &ChainEvent<Args>,
) -> Result<EventBuilder, HostError> {
    let event_data = ChainEventData { data: job, event: None, contract: None, tx: log.tx, block: log.block };
    let event = EventBuilder::new(kind, &event_data).subject("job", job.job_id);
    Ok(actor.into_iter().fold(event, EventBuilder::actor))
}

pub fn feedback_event<Args>(feedback: &FeedbackFacts<'_>, log: &ChainEvent<Args>) -> Result<EventBuilder, HostError> {
    let event = about_agent("feedback.given", feedback, feedback.agent_id, log)?;
    Ok(event.actor(feedback.client))
}

pub fn validation_event<Args>(
    validation: &ValidationFacts<'_>,
    validator: Address,
    log: &ChainEvent<Args>,
) -> Result<EventBuilder, HostError> {
    let (kind, agent) = match validation {
        ValidationFacts::Requested { agent_id, .. } => ("validation.requested", *agent_id),
        ValidationFacts::Done { agent_id, .. } => ("validation.done", *agent_id),
    };
    Ok(about_agent(kind, validation, agent, log)?.actor(validator))
}

fn about_agent<Args>(
    kind: &str,
    data: &impl Serialize,
    agent: AgentId,
    log: &ChainEvent<Args>,
) -> Result<EventBuilder, HostError> {
    let (event, contract) = (Some(log.event.as_str()), Some(log.contract.as_str()));
    let event_data = ChainEventData { data, event, contract, tx: log.tx, block: log.block };
    Ok(EventBuilder::new(kind, &event_data).subject("agent", agent))
}
