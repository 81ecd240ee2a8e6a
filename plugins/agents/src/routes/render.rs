//! Rows into what readers get.

use crate::{
    model::{AgentView, JobStatus, JobTransactions, JobView, average, card_json},
    store::{agents::AgentRow, jobs::JobRow},
};

pub fn agent(row: AgentRow) -> AgentView {
    AgentView {
        id: row.id,
        owner: row.owner,
        name: row.name,
        endpoint: row.endpoint,
        metadata_uri: row.metadata_uri,
        price_per_job: row.price_per_job,
        bond: row.bond,
        status: row.status,
        registered_at: row.registered_at,
        jobs_completed: row.jobs_completed,
        jobs_failed: row.jobs_failed,
        rating_count: row.rating_count,
        rating_sum: row.rating_sum,
        rating_avg: average(row.rating_sum, row.rating_count),
        description: row.description,
        capabilities: row.capabilities,
        model: row.model,
        price_per_call: row.price_per_call,
        card: row.card.and_then(card_json),
        online: row.online,
        last_seen: row.last_seen_ms,
    }
}

pub fn job(row: JobRow) -> JobView {
    let is_in_review = row.status == JobStatus::Delivered;
    let deadline = row.delivered_at.filter(|_| is_in_review).map(|at| at.saturating_add(row.review_window_s));
    JobView {
        id: row.id,
        agent_id: row.agent_id,
        agent_name: row.agent_name,
        client: row.client,
        amount: row.amount,
        input_hash: row.input_hash,
        input_uri: row.input_uri,
        output_hash: row.output_hash,
        output_uri: row.output_uri,
        created_at: row.created_at,
        delivered_at: row.delivered_at,
        status: row.status,
        rating: row.rating,
        review_deadline: deadline,
        claimable_at: deadline,
        tx: JobTransactions { requested: row.tx_requested, delivered: row.tx_delivered, closed: row.tx_closed },
    }
}
