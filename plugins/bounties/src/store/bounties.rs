//! Writes of bounties: posting one, awarding it.

use crate::model::{AgentId, BountyDraft, BountyId, BountyText, JobId};
use plugin_api::{Address, HostError, Query, Sql, Tx, format, render_json, sql};
use serde_json::Value;

const SUMMARY_CHARS: usize = 280;

/// Stores a bounty; returns its id and its immutable members.
pub async fn insert(
    tx: &Tx,
    poster: Address,
    draft: BountyDraft,
    now_s: i64,
) -> Result<(BountyId, BountyText), HostError> {
    let BountyDraft { title, brief, reward, tags, deadline } = draft;
    let text = BountyText { title, brief, reward_wei: reward, tags, deadline, created_at: now_s };
    let insert = sql("INSERT INTO bounties_bounties \
            (poster, title, brief, tags, summary, reward, deadline, deadline_order, created_at, updated_at, kept) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10) RETURNING id")
    .bind(poster)
    .bind(&text.title)
    .bind(&text.brief)
    .bind(Value::from(text.tags.clone()).to_string())
    .bind(format::excerpt(&text.brief, SUMMARY_CHARS))
    .bind(reward.sort_key())
    .bind(deadline)
    .bind(deadline.unwrap_or(i64::MAX))
    .bind(now_s)
    .bind(render_json(&text)?);
    let id: BountyId = tx.one(insert).await?;
    if !text.tags.is_empty() {
        tx.defer(tag_with(&text.tags, id))?;
    }
    Ok((id, text))
}

fn tag_with(tags: &[String], bounty: BountyId) -> Sql {
    let rows: Vec<String> = (2..).zip(tags).map(|(number, _)| format!("(${number}, $1)")).collect();
    let insert = sql(format!("INSERT INTO bounties_tags (tag, bounty_id) VALUES {}", rows.join(", ")));
    tags.iter().fold(insert.bind(bounty), Sql::bind)
}

/// Updates the bounty's row and thereby locks it: no other transaction writes about this bounty before this one ends, so what it
/// reads afterwards stays valid. Returns whether the bounty exists.
pub async fn touch(tx: &Tx, bounty: BountyId, now_s: i64) -> Result<bool, HostError> {
    let touch = sql(
        "UPDATE bounties_bounties SET updated_at = CASE WHEN updated_at < $2 THEN $2 ELSE updated_at END WHERE id = $1",
    )
    .bind(bounty)
    .bind(now_s);
    Ok(tx.execute(touch).await? > 0)
}

/// Stores the poster's award in place of an earlier one.
pub async fn award(tx: &Tx, bounty: BountyId, agent: AgentId, job: Option<JobId>, now_s: i64) -> Result<(), HostError> {
    let award = sql("UPDATE bounties_bounties SET awarded_agent = $2, awarded_job = $3, awarded_at = $4 WHERE id = $1")
        .bind(bounty)
        .bind(agent)
        .bind(job)
        .bind(now_s);
    tx.execute(award).await.map(drop)
}

pub async fn count(db: &impl Query) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM bounties_bounties")).await
}
