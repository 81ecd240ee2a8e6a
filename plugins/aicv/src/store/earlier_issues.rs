//! Issues that were replaced: documents of any limit can be made again of them.
//!
//! The rule: what is kept of an agent is bounded in number and size, so that nobody takes the room of another agent's.

use crate::model::{Content, Issue};
use plugin_api::{AgentId, Hash256, HostError, Query, Sql, sql};

/// Of all contents that are kept of an agent. The newest one is kept whatever its size.
const CHARS_MAX: i64 = 8 * 1024 * 1024;

/// When an issue was written, and its fingerprint.
pub type EarlierVersion = (i64, Hash256);

/// Keeps the agent's issue, which is about to be replaced.
pub fn keep(agent: AgentId) -> Sql {
    sql("INSERT INTO aicv_earlier_issues (agent_id, written_ms, fingerprint, issued_at, as_of_block, as_of_block_hash, content_chars, \
         content) SELECT agent_id, written_ms, fingerprint, issued_at, as_of_block, as_of_block_hash, length(content), content \
         FROM aicv_issues WHERE agent_id = $1 ON CONFLICT (agent_id, written_ms, fingerprint) DO NOTHING")
    .bind(agent)
}

/// Deletes the agent's issues but the newest.
pub fn prune(agent: AgentId, kept: i64) -> Sql {
    sql("DELETE FROM aicv_earlier_issues WHERE agent_id = $1 AND written_ms NOT IN (SELECT written_ms FROM \
         (SELECT written_ms, row_number() OVER (ORDER BY written_ms DESC, fingerprint) AS place, \
         CAST(sum(content_chars) OVER (ORDER BY written_ms DESC, fingerprint) AS BIGINT) AS chars FROM aicv_earlier_issues \
         WHERE agent_id = $1) AS ranked WHERE place = 1 OR place <= $2 AND chars <= $3)")
    .bind((agent, kept, CHARS_MAX))
}

/// The newest first.
pub async fn versions(db: &impl Query, agent: AgentId) -> Result<Vec<EarlierVersion>, HostError> {
    let select = "SELECT written_ms, fingerprint FROM aicv_earlier_issues WHERE agent_id = $1 ORDER BY written_ms DESC, fingerprint";
    db.rows(sql(select).bind(agent)).await
}

pub async fn find(
    db: &impl Query,
    agent: AgentId,
    (written_ms, fingerprint): EarlierVersion,
) -> Result<Option<Issue>, HostError> {
    let select = sql("SELECT issued_at, as_of_block, as_of_block_hash, content FROM aicv_earlier_issues \
         WHERE agent_id = $1 AND written_ms = $2 AND fingerprint = $3");
    let row: Option<(i64, i64, Hash256, String)> = db.row(select.bind((agent, written_ms, fingerprint))).await?;
    let Some((issued_at, as_of_block, as_of_block_hash, content)) = row else { return Ok(None) };
    let content = Content::stored(&content)?;
    Ok(Some(Issue { content, issued_at, as_of_block, as_of_block_hash }))
}
