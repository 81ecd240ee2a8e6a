//! Sums of an agent's record, and what clients and validators are part of them.
//!
//! The rule: the sums equal a count of the rows that they are about (`tests/it/sums.rs`).

use crate::model::{JobFacts, JobStatus};
use plugin_api::{Address, AgentId, HostError, Sql, Tx, Wei, sql};

/// What an event adds to the counts of an agent.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordCounts {
    pub jobs: i64,
    pub delivered: i64,
    pub settled: i64,
    pub unrated: i64,
    pub zero_value: i64,
    pub rated_paid: i64,
    pub paid_feedback: i64,
    pub validations: i64,
    pub scored: i64,
    pub response_sum: i64,
}

pub fn add(agent: AgentId, more: RecordCounts) -> Sql {
    sql("INSERT INTO agents_records (agent_id, jobs, delivered, settled, unrated, zero_value, rated_paid, paid_feedback, \
         validations, scored, response_sum) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
         ON CONFLICT (agent_id) DO UPDATE SET jobs = agents_records.jobs + excluded.jobs, \
         delivered = agents_records.delivered + excluded.delivered, settled = agents_records.settled + excluded.settled, \
         unrated = agents_records.unrated + excluded.unrated, \
         zero_value = agents_records.zero_value + excluded.zero_value, \
         rated_paid = agents_records.rated_paid + excluded.rated_paid, \
         paid_feedback = agents_records.paid_feedback + excluded.paid_feedback, \
         validations = agents_records.validations + excluded.validations, \
         scored = agents_records.scored + excluded.scored, \
         response_sum = agents_records.response_sum + excluded.response_sum")
    .bind((agent, more.jobs, more.delivered, more.settled, more.unrated, more.zero_value))
    .bind((more.rated_paid, more.paid_feedback, more.validations, more.scored, more.response_sum))
}

/// What a job gave when it was completed or resolved.
#[derive(Clone, Copy, Debug)]
pub struct Settlement {
    pub agent_payout: Wei,
    pub fee: Wei,
    /// 0 means none.
    pub rating: u8,
}

/// Selects what the settled jobs of the agent gave to it, and what they cost in fees.
pub fn read_earned(agent: AgentId) -> Sql {
    sql("SELECT payouts, fees FROM agents_records WHERE agent_id = $1").bind(agent)
}

/// Selects how much feedback of the client stands.
pub fn read_feedback(agent: AgentId, client: Address) -> Sql {
    sql("SELECT feedback FROM agents_clients WHERE agent_id = $1 AND client = $2").bind((agent, client))
}

/// Adds a job that was just completed or resolved. `earned` is what was earned before, `newly_paid_feedback` what feedback its client
/// had given before his first payment.
pub fn add_settled(
    tx: &Tx,
    job: &JobFacts,
    settlement: Settlement,
    earned: (Wei, Wei),
    newly_paid_feedback: i64,
) -> Result<(), HostError> {
    let Settlement { agent_payout, fee, rating } = settlement;
    let (is_paid, is_completed) = (job.amount > Wei::ZERO, job.status == JobStatus::Completed);
    let more = RecordCounts {
        settled: 1,
        unrated: i64::from(is_completed && rating == 0),
        zero_value: i64::from(!is_paid),
        rated_paid: i64::from(is_paid && is_completed && rating > 0),
        paid_feedback: newly_paid_feedback,
        ..RecordCounts::default()
    };
    tx.defer(add(job.agent_id, more))?;
    let (payouts, fees) = earned;
    let set = sql("UPDATE agents_records SET payouts = $2, fees = $3 WHERE agent_id = $1");
    tx.defer(set.bind((job.agent_id, payouts.saturating_add(agent_payout), fees.saturating_add(fee))))?;
    if more.zero_value + more.rated_paid == 0 {
        return Ok(());
    }
    let of_client = sql("INSERT INTO agents_clients (agent_id, client, zero_value, rated_paid, feedback) \
         VALUES ($1, $2, $3, $4, 0) ON CONFLICT (agent_id, client) DO UPDATE SET \
         zero_value = agents_clients.zero_value + excluded.zero_value, \
         rated_paid = agents_clients.rated_paid + excluded.rated_paid");
    tx.defer(of_client.bind((job.agent_id, job.client, more.zero_value, more.rated_paid)))
}

/// Whether the client `$2` has paid the agent `$1`.
const HAS_PAID: &str =
    "CASE WHEN EXISTS (SELECT 1 FROM agents_payers WHERE agent_id = $1 AND payer = $2) THEN 1 ELSE 0 END";

pub fn add_feedback(tx: &Tx, agent: AgentId, client: Address) -> Result<(), HostError> {
    let of_agent = format!(
        "INSERT INTO agents_records (agent_id, feedback, paid_feedback) VALUES ($1, 1, {HAS_PAID}) \
         ON CONFLICT (agent_id) DO UPDATE SET feedback = agents_records.feedback + 1, \
         paid_feedback = agents_records.paid_feedback + excluded.paid_feedback"
    );
    tx.defer(sql(of_agent).bind((agent, client)))?;
    let of_client = sql("INSERT INTO agents_clients (agent_id, client, zero_value, rated_paid, feedback) \
         VALUES ($1, $2, 0, 0, 1) ON CONFLICT (agent_id, client) DO UPDATE SET feedback = agents_clients.feedback + 1");
    tx.defer(of_client.bind((agent, client)))
}

/// Takes feedback away that is about to be revoked; nothing when it does not stand.
pub fn subtract_feedback(tx: &Tx, agent: AgentId, client: Address, feedback_index: i64) -> Result<(), HostError> {
    let stands = "EXISTS (SELECT 1 FROM agents_feedback \
         WHERE agent_id = $1 AND client = $2 AND feedback_index = $3 AND revoked = 0)";
    let of_agent = format!(
        "UPDATE agents_records SET feedback = feedback - 1, paid_feedback = paid_feedback - {HAS_PAID} \
         WHERE agent_id = $1 AND {stands}"
    );
    tx.defer(sql(of_agent).bind((agent, client, feedback_index)))?;
    let of_client =
        format!("UPDATE agents_clients SET feedback = feedback - 1 WHERE agent_id = $1 AND client = $2 AND {stands}");
    tx.defer(sql(of_client).bind((agent, client, feedback_index)))
}

pub fn add_validation(tx: &Tx, agent: AgentId, validator: Address) -> Result<(), HostError> {
    tx.defer(add(agent, RecordCounts { validations: 1, ..RecordCounts::default() }))?;
    let of_validator = sql("INSERT INTO agents_validators (agent_id, validator, validations) VALUES ($1, $2, 1) \
         ON CONFLICT (agent_id, validator) DO UPDATE SET validations = agents_validators.validations + 1");
    tx.defer(of_validator.bind((agent, validator)))
}

/// Adds a response; `before` is the validator's former one.
pub fn add_response(agent: AgentId, before: Option<u8>, response: u8) -> Sql {
    let response_sum = i64::from(response) - i64::from(before.unwrap_or(0));
    add(agent, RecordCounts { scored: i64::from(before.is_none()), response_sum, ..RecordCounts::default() })
}
