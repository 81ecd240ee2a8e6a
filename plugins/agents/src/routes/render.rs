//! Converts rows to response types.

use crate::{
    model::{JobStatus, JobTransactions, JobView},
    store::jobs::JobRow,
};

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
