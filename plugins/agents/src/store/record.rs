//! Reads for an agent's record: its jobs, feedback and validations with their transactions, and sums over them.

use crate::model::JobStatus;
use plugin_api::{Address, AgentId, Hash256, HostError, Query, Wei, point::CvClaim, sql};
use serde::Deserialize;

/// A text of the chain, which has no bound, up to where its claim is too large anyway.
fn bounded(column: &str) -> String {
    format!("substr({column}, 1, {})", CvClaim::BYTES_MAX)
}

/// A job with what its settlement moved.
#[derive(Debug, Deserialize)]
pub struct RecordJob {
    pub id: i64,
    pub client: Address,
    pub amount: Wei,
    pub agent_payout: Option<Wei>,
    pub fee: Option<Wei>,
    pub status: JobStatus,
    pub rating: Option<u8>,
    pub input_hash: Hash256,
    pub output_hash: Option<Hash256>,
    pub tx_requested: Hash256,
    pub tx_delivered: Option<Hash256>,
    pub tx_closed: Option<Hash256>,
}

/// Those that came to an end first come first, then those that are open.
pub async fn jobs(db: &impl Query, agent: AgentId, limit: u32) -> Result<Vec<RecordJob>, HostError> {
    let select = sql(
        "SELECT id, client, amount, agent_payout, fee, status, rating, input_hash, output_hash, tx_requested, tx_delivered, \
         tx_closed FROM agents_jobs WHERE agent_id = $1 ORDER BY coalesce(closed_at, created_at), id LIMIT $2",
    );
    db.rows(select.bind((agent, limit))).await
}

/// Feedback that was not revoked.
#[derive(Debug, Deserialize)]
pub struct RecordFeedback {
    pub client: Address,
    pub feedback_index: i64,
    pub value: String,
    pub value_decimals: i64,
    pub tag1: String,
    pub tag2: String,
    pub feedback_uri: String,
    pub given_at: i64,
    pub tx: Hash256,
    pub is_paid: bool,
}

/// The newest first.
pub async fn feedback(db: &impl Query, agent: AgentId, limit: u32) -> Result<Vec<RecordFeedback>, HostError> {
    let select = sql(format!(
        "SELECT f.client, f.feedback_index, f.value, f.value_decimals, {} AS tag1, {} AS tag2, {} AS feedback_uri, f.given_at, f.tx, \
         CASE WHEN EXISTS (SELECT 1 FROM agents_payers p WHERE p.agent_id = f.agent_id AND p.payer = f.client) THEN 1 ELSE 0 END \
         AS is_paid FROM agents_feedback f WHERE f.agent_id = $1 AND f.revoked = 0 \
         ORDER BY f.given_at DESC, f.client, f.feedback_index DESC LIMIT $2",
        bounded("f.tag1"),
        bounded("f.tag2"),
        bounded("f.feedback_uri"),
    ));
    db.rows(select.bind((agent, limit))).await
}

#[derive(Debug, Deserialize)]
pub struct RecordValidation {
    pub request_hash: Hash256,
    pub validator: Address,
    pub job_id: Option<i64>,
    pub request_uri: String,
    pub requested_at: i64,
    pub tx_request: Hash256,
    pub response: Option<u8>,
    pub response_uri: Option<String>,
    pub tag: Option<String>,
    pub responded_at: Option<i64>,
    pub tx_response: Option<Hash256>,
}

/// The newest first.
pub async fn validations(db: &impl Query, agent: AgentId, limit: u32) -> Result<Vec<RecordValidation>, HostError> {
    let select = sql(format!(
        "SELECT request_hash, validator, job_id, {} AS request_uri, requested_at, tx_request, response, {} AS response_uri, {} AS tag, \
         responded_at, tx_response FROM agents_validations WHERE agent_id = $1 ORDER BY block DESC, log_index DESC LIMIT $2",
        bounded("request_uri"),
        bounded("response_uri"),
        bounded("tag"),
    ));
    db.rows(select.bind((agent, limit))).await
}

/// What the agent is and says of itself.
#[derive(Debug, Deserialize)]
pub struct RecordAgent {
    pub name: String,
    pub registered_at: i64,
    pub endpoint: String,
    pub paid_jobs: i64,
    pub payers: i64,
    pub capabilities: Option<String>,
    pub model: Option<String>,
    pub price_per_call: Option<Wei>,
    pub card: Option<String>,
    pub online: bool,
    pub last_seen_ms: Option<i64>,
}

pub async fn agent(db: &impl Query, agent: AgentId) -> Result<Option<RecordAgent>, HostError> {
    let select = sql(
        "SELECT a.name, a.registered_at, a.endpoint, a.paid_jobs, a.payers, c.capabilities, c.model, c.price_per_call, \
         c.card, coalesce(c.online, 0) * a.active AS online, c.last_seen_ms FROM agents_agents a \
         LEFT JOIN agents_cards c ON c.agent_id = a.id AND c.endpoint = a.endpoint WHERE a.id = $1",
    );
    db.row(select.bind(agent)).await
}

/// Sums over all jobs, feedback and validations of the agent, which chain events maintain.
#[derive(Debug, Default, Deserialize)]
pub struct Sums {
    pub jobs: i64,
    pub delivered: i64,
    pub settled: i64,
    pub unrated: i64,
    /// What the settled jobs gave to the agent, and what they cost in fees.
    pub payouts: Wei,
    pub fees: Wei,
    /// Settled jobs without an amount.
    pub zero_value: i64,
    /// Completed jobs with an amount and a rating.
    pub rated_paid: i64,
    /// Feedback that stands, and how much of it is from clients that paid.
    pub feedback: i64,
    pub paid_feedback: i64,
    /// Validations, those with a response, and the sum of the responses.
    pub validations: i64,
    pub scored: i64,
    pub response_sum: i64,
}

pub async fn sums(db: &impl Query, agent: AgentId) -> Result<Sums, HostError> {
    let select = sql("SELECT jobs, delivered, settled, unrated, payouts, fees, zero_value, rated_paid, feedback, \
         paid_feedback, validations, scored, response_sum FROM agents_records WHERE agent_id = $1");
    Ok(db.row(select.bind(agent)).await?.unwrap_or_default())
}

/// How many validations of the agent are by this validator.
pub async fn validations_by(db: &impl Query, agent: AgentId, validator: Address) -> Result<i64, HostError> {
    let select = sql("SELECT validations FROM agents_validators WHERE agent_id = $1 AND validator = $2");
    Ok(db.row(select.bind((agent, validator))).await?.unwrap_or(0))
}
