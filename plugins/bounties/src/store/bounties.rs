//! Writes of bounties: posting one, awarding it.

use super::state::SettledBounty;
use crate::model::{BountyId, BountyText};
use plugin_api::{Address, AgentId, HostError, JobId, Query, Sql, Tx, format, render_json, sql};
use serde_json::Value;

const SUMMARY_CHARS: usize = 280;

pub async fn insert(tx: &Tx, poster: Address, text: &BountyText) -> Result<BountyId, HostError> {
    let BountyText { title, brief, reward_wei, tags, deadline, created_at } = text;
    let insert = sql("INSERT INTO bounties_bounties \
            (poster, title, brief, tags, summary, reward, deadline, deadline_order, created_at, updated_at, kept) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10) RETURNING id")
    .bind((poster, title, brief, Value::from(tags.clone()).to_string(), format::excerpt(brief, SUMMARY_CHARS)))
    .bind((reward_wei.sort_key(), deadline, deadline.unwrap_or(i64::MAX), created_at, render_json(text)?));
    let id: BountyId = tx.one(insert).await?;
    if let Some(insert) = Sql::insert_rows("bounties_tags", "tag, bounty_id", tags.iter().map(|tag| (tag, id))) {
        tx.defer(insert)?;
    }
    Ok(id)
}

/// Updates the bounty's row and thereby locks it: no other transaction writes about this bounty before this one ends, so what it
/// reads afterwards stays valid.
pub async fn touch(tx: &Tx, bounty: BountyId) -> Result<(), HostError> {
    let touch =
        sql("UPDATE bounties_bounties SET updated_at = CASE WHEN updated_at < $2 THEN $2 ELSE updated_at END, \
         active_order = CASE WHEN active_order < $2 THEN $2 ELSE active_order END WHERE id = $1");
    tx.execute(touch.bind((bounty, tx.now_s()))).await.map(drop)
}

/// Marks bounties that are never open again, with their last activity.
pub async fn settle(tx: &Tx, bounties: &[SettledBounty]) -> Result<(), HostError> {
    let settle = |bounty: &SettledBounty| {
        sql("UPDATE bounties_bounties SET is_settled = 1, \
             active_order = CASE WHEN active_order < $2 THEN $2 ELSE active_order END WHERE id = $1")
        .bind((bounty.id, bounty.active_at))
    };
    tx.batch(bounties.iter().map(settle).collect()).await.map(drop)
}

/// Stores the poster's award in place of an earlier one.
pub async fn award(tx: &Tx, bounty: BountyId, agent: AgentId, job: Option<JobId>) -> Result<(), HostError> {
    let award =
        sql("UPDATE bounties_bounties SET is_taken = 1, awarded_agent = $2, awarded_job = $3, awarded_at = $4, \
        awarded_after_job = (SELECT max(c.job_id) FROM bounties_jobs c WHERE c.bounty_id = $1) WHERE id = $1");
    tx.execute(award.bind((bounty, agent, job, tx.now_s()))).await.map(drop)
}
