//! The two transfers of each payout.

use crate::model::Side;
use plugin_api::{Address, AgentId, Hash256, HostError, JobId, Query, Tx, Wei, sql};
use serde::Deserialize;

/// A transfer that is on its way.
#[derive(Clone, Debug, Deserialize)]
pub struct Transfer {
    pub new_agent: AgentId,
    pub side: Side,
    pub intent: i64,
    pub tx: Option<Hash256>,
    pub is_mined: bool,
}

pub async fn insert(tx: &Tx, new_agent: AgentId, side: Side, intent: i64) -> Result<(), HostError> {
    let insert = "INSERT INTO referrals_transfers (new_agent, side, attempt, intent, state, is_mined) VALUES ($1, $2, 1, $3, 'sent', 0)";
    tx.execute(sql(insert).bind((new_agent, side, intent))).await.map(drop)
}

pub async fn sent(db: &impl Query, limit: u32) -> Result<Vec<Transfer>, HostError> {
    let select = "SELECT new_agent, side, intent, tx, is_mined FROM referrals_transfers WHERE state = 'sent' \
         ORDER BY new_agent, side LIMIT $1";
    db.rows(sql(select).bind(limit)).await
}

/// Notes the transaction that was signed last, or the one that is in a block now.
pub async fn note_progress(
    tx: &Tx,
    transfer: &Transfer,
    (hash, is_mined): (Option<Hash256>, bool),
) -> Result<(), HostError> {
    let update =
        "UPDATE referrals_transfers SET tx = $4, is_mined = $5 WHERE new_agent = $1 AND side = $2 AND intent = $3";
    let update = sql(update).bind((transfer.new_agent, transfer.side, transfer.intent, hash, is_mined));
    tx.execute(update).await.map(drop)
}

/// Ends a transfer that is on its way; returns false when it has ended.
pub async fn end(
    tx: &Tx,
    transfer: &Transfer,
    state: &'static str,
    hash: Option<Hash256>,
    reason: Option<&str>,
) -> Result<bool, HostError> {
    let update = "UPDATE referrals_transfers SET state = $4, tx = $5, reason = $6 \
         WHERE new_agent = $1 AND side = $2 AND intent = $3 AND state = 'sent'";
    let update = sql(update).bind((transfer.new_agent, transfer.side, transfer.intent, state, hash, reason));
    Ok(tx.execute(update).await? > 0)
}

/// What is to be repeated: where the transfer goes, and the number of the next attempt.
#[derive(Clone, Debug, Deserialize)]
pub struct FailedTransfer {
    pub owner: Address,
    pub reward: Wei,
    pub attempt: i64,
}

pub async fn failed(db: &impl Query, new_agent: AgentId, side: Side) -> Result<Option<FailedTransfer>, HostError> {
    let select = "SELECT CASE WHEN t.side = 'new' THEN c.new_owner ELSE c.ref_owner END AS owner, c.reward, \
         t.attempt + 1 AS attempt FROM referrals_transfers t JOIN referrals_claims c ON c.new_agent = t.new_agent \
         WHERE t.new_agent = $1 AND t.side = $2 AND t.state = 'failed'";
    db.row(sql(select).bind((new_agent, side))).await
}

/// Puts the next attempt in the place of the one that failed.
pub async fn repeat(tx: &Tx, new_agent: AgentId, side: Side, attempt: i64, intent: i64) -> Result<(), HostError> {
    let update = "UPDATE referrals_transfers SET state = 'sent', attempt = $3, intent = $4, tx = NULL, is_mined = 0, reason = NULL \
         WHERE new_agent = $1 AND side = $2 AND state = 'failed'";
    tx.execute(sql(update).bind((new_agent, side, attempt, intent))).await.map(drop)
}

/// A payout whose transfers are both final.
#[derive(Clone, Debug, Deserialize)]
pub struct Payout {
    pub ref_agent: AgentId,
    pub new_owner: Address,
    pub ref_owner: Address,
    pub reward: Wei,
    pub job_id: JobId,
    pub tx_new: Hash256,
    pub tx_ref: Hash256,
}

pub async fn finished(db: &impl Query, new_agent: AgentId) -> Result<Option<Payout>, HostError> {
    let select = "SELECT c.ref_agent, c.new_owner, c.ref_owner, c.reward, c.job_id, tn.tx AS tx_new, tr.tx AS tx_ref \
         FROM referrals_claims c \
         JOIN referrals_transfers tn ON tn.new_agent = c.new_agent AND tn.side = 'new' AND tn.state = 'done' \
         JOIN referrals_transfers tr ON tr.new_agent = c.new_agent AND tr.side = 'ref' AND tr.state = 'done' \
         WHERE c.new_agent = $1 AND c.state = 'sent'";
    db.row(sql(select).bind(new_agent)).await
}

/// What the transfers that are in no block take from the key's account.
pub async fn outstanding(db: &impl Query) -> Result<Wei, HostError> {
    let select = "SELECT c.reward FROM referrals_transfers t JOIN referrals_claims c ON c.new_agent = t.new_agent \
         WHERE t.state = 'sent' AND t.is_mined = 0";
    let rewards: Vec<Wei> = db.rows(sql(select)).await?;
    Ok(rewards.into_iter().fold(Wei::ZERO, Wei::saturating_add))
}
