//! Events of the activity log. Clients depend on these members: wire names, public data only.
//!
//! Every later event of the registry is an `agent.updated`, and the six types of job events have the same data. These are
//! made with the builder, because a derived event has one type.

use super::{AgentRecord, AgentStatus, JobStatus};
use plugin_api::{Address, AgentId, Event, Hash256, JobId, Wei, contracts::ChainEvent, stream::EventBuilder};
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
    FeedbackGiven::TYPE,
    ValidationRequested::TYPE,
    ValidationDone::TYPE,
];

/// Those of audit exports, which have agents and jobs from the logs of the chain.
pub const AUDITED_TYPES: [&str; 3] = [FeedbackGiven::TYPE, ValidationRequested::TYPE, ValidationDone::TYPE];

/// `agent.registered`, or `agent.updated` for later changes, with the agent after the event.
pub fn agent_event<Args>(agent: &AgentRecord, log: &ChainEvent<Args>) -> EventBuilder {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct AgentChanged<'a> {
        agent_id: AgentId,
        name: &'a str,
        endpoint: &'a str,
        price_per_job: Wei,
        status: AgentStatus,
        event: &'a str,
        tx: Hash256,
        block: u64,
    }
    let event_type = if log.event == "AgentRegistered" { "agent.registered" } else { "agent.updated" };
    let AgentRecord { id, owner, name, endpoint, price_per_job, status, .. } = agent;
    let data = AgentChanged {
        agent_id: *id,
        name,
        endpoint,
        price_per_job: *price_per_job,
        status: *status,
        event: &log.event,
        tx: log.tx,
        block: log.block,
    };
    EventBuilder::new(event_type, &data).actor(*owner).subject("agent", *id)
}

/// A job after an event: the row, and the data of the published event.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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

/// `event_type` is for example `job.requested`; `actor` is the account that acted, `None` for an arbiter.
pub fn job_event<Args>(
    event_type: &str,
    job: &JobFacts,
    actor: Option<Address>,
    log: &ChainEvent<Args>,
) -> EventBuilder {
    #[derive(Serialize)]
    struct JobChanged<'a> {
        #[serde(flatten)]
        job: &'a JobFacts,
        tx: Hash256,
        block: u64,
    }
    let event = EventBuilder::new(event_type, &JobChanged { job, tx: log.tx, block: log.block });
    actor.into_iter().fold(event.subject("job", job.job_id), EventBuilder::actor)
}

/// The log of the contract that an event was made of.
#[derive(Serialize)]
pub struct ChainSource<'a> {
    event: &'a str,
    contract: &'a str,
    tx: Hash256,
    block: u64,
}

impl<'a> ChainSource<'a> {
    pub fn of<Args>(log: &'a ChainEvent<Args>) -> Self {
        Self { event: &log.event, contract: &log.contract, tx: log.tx, block: log.block }
    }
}

#[derive(Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("feedback.given", subject = "agent", id = agent_id, actor = client)]
pub struct FeedbackGiven<'a> {
    pub agent_id: AgentId,
    pub client: Address,
    /// An integer; divide it by ten to the power of the decimals.
    pub value: &'a str,
    pub value_decimals: u8,
    pub tag1: &'a str,
    pub tag2: &'a str,
    #[serde(flatten)]
    pub source: ChainSource<'a>,
}

#[derive(Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("validation.requested", subject = "agent", id = agent_id, actor = validator)]
pub struct ValidationRequested<'a> {
    pub agent_id: AgentId,
    pub validator: Address,
    pub request_hash: Hash256,
    #[serde(rename = "requestURI")]
    pub request_uri: &'a str,
    #[serde(flatten)]
    pub source: ChainSource<'a>,
}

/// The actor is the validator, who is not part of the data.
#[derive(Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("validation.done", subject = "agent", id = agent_id)]
pub struct ValidationDone<'a> {
    pub agent_id: AgentId,
    pub agent_name: Option<String>,
    pub request_hash: Hash256,
    pub response: u8,
    #[serde(rename = "responseURI")]
    pub response_uri: &'a str,
    pub tag: &'a str,
    #[serde(flatten)]
    pub source: ChainSource<'a>,
}
