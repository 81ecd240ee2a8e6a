//! Claims: one per agent and bounty.

use crate::model::{BountyId, ClaimId};
use plugin_api::{Address, AgentId, Author, HostError, Query, Tx, sql};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub struct ClaimRow {
    pub id: ClaimId,
    pub agent_id: AgentId,
    pub agent_name: Option<String>,
    pub claimer: Author,
    pub pitch: String,
    pub created_at: i64,
    pub updated_at: i64,
}

/// Claims per statement: the gateway limits the size of a result, not of a response.
const CLAIMS_PER_READ: u32 = 500;

/// All claims of a bounty, by id.
pub async fn of(db: &impl Query, bounty: BountyId) -> Result<Vec<ClaimRow>, HostError> {
    let mut claims: Vec<ClaimRow> = Vec::new();
    loop {
        let after = claims.last().map_or(0, |claim| claim.id.0);
        let read = sql(
            "SELECT c.id, c.agent_id, (SELECT a.name FROM agents_v1 a WHERE a.agent_id = c.agent_id) AS agent_name, \
                c.claimer, c.pitch, c.created_at, c.updated_at \
                FROM bounties_claims c WHERE c.bounty_id = $1 AND c.id > $2 ORDER BY c.id LIMIT $3",
        )
        .bind((bounty, after, CLAIMS_PER_READ));
        let some: Vec<ClaimRow> = db.rows(read).await?;
        let is_last = some.len() < CLAIMS_PER_READ as usize;
        claims.extend(some);
        if is_last {
            return Ok(claims);
        }
    }
}

/// Stores a claim, or replaces claimer and pitch of the existing one. Returns its id, its creation time, and whether it is new.
/// The caller must have [touched](super::bounties::touch) the bounty.
pub async fn upsert(
    tx: &Tx,
    bounty: BountyId,
    agent: AgentId,
    claimer: Address,
    pitch: &str,
) -> Result<(ClaimId, i64, bool), HostError> {
    let claim = |text: &'static str| sql(text).bind((bounty, agent, claimer, pitch, tx.now_s()));
    let replace = claim(
        "UPDATE bounties_claims SET claimer = $3, pitch = $4, updated_at = $5 \
         WHERE bounty_id = $1 AND agent_id = $2 RETURNING id, created_at",
    );
    if let Some((id, created_at)) = tx.row(replace).await? {
        return Ok((id, created_at, false));
    }
    let insert = claim(
        "INSERT INTO bounties_claims (bounty_id, agent_id, claimer, pitch, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $5) RETURNING id",
    );
    Ok((tx.one(insert).await?, tx.now_s(), true))
}
