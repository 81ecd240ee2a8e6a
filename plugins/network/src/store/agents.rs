//! Agents, as the plugin agents publishes them.

use crate::model::AgentRow;
use plugin_api::{AgentId, HostError, Query, contracts::registry::AgentName, sql};

const COLUMNS: &str = "agent_id, name, slug, owner, status, coalesce(capabilities, '[]') AS capabilities, price_per_job, \
     jobs_completed, rating_count, rating_sum";
/// Placeholders of a statement.
const IDS_OF_STATEMENT: usize = 500;

pub async fn find(db: &impl Query, name: &AgentName) -> Result<Option<AgentRow>, HostError> {
    db.row(name.select(COLUMNS)).await
}

pub async fn of_ids(db: &impl Query, ids: &[AgentId]) -> Result<Vec<AgentRow>, HostError> {
    let mut rows = Vec::with_capacity(ids.len());
    for ids in ids.chunks(IDS_OF_STATEMENT) {
        let select = sql(format!("SELECT {COLUMNS} FROM agents_v1 WHERE agent_id")).push_in(ids.iter().copied());
        rows.extend(db.rows::<AgentRow>(select.push(" ORDER BY agent_id")).await?);
    }
    Ok(rows)
}
