//! Agents, as the plugin agents publishes them.

use crate::model::{AgentName, AgentRow};
use plugin_api::{AgentId, HostError, Query, sql};

const COLUMNS: &str = "agent_id, name, slug, owner, status, coalesce(capabilities, '[]') AS capabilities, price_per_job, \
     jobs_completed, rating_count, rating_sum";
/// Placeholders of a statement.
const IDS_OF_STATEMENT: usize = 500;

/// Of several agents with one slug the oldest, whatever its status.
pub async fn find(db: &impl Query, name: &AgentName) -> Result<Option<AgentRow>, HostError> {
    let select = match name {
        AgentName::Id(id) => sql(format!("SELECT {COLUMNS} FROM agents_v1 WHERE agent_id = $1")).bind(*id),
        AgentName::Slug(slug) => {
            sql(format!("SELECT {COLUMNS} FROM agents_v1 WHERE slug = $1 ORDER BY agent_id LIMIT 1")).bind(slug)
        }
    };
    db.row(select).await
}

pub async fn of_ids(db: &impl Query, ids: &[AgentId]) -> Result<Vec<AgentRow>, HostError> {
    let mut rows = Vec::with_capacity(ids.len());
    for ids in ids.chunks(IDS_OF_STATEMENT) {
        let placeholders = (1..=ids.len()).map(|number| format!("${number}")).collect::<Vec<_>>().join(", ");
        let select = format!("SELECT {COLUMNS} FROM agents_v1 WHERE agent_id IN ({placeholders}) ORDER BY agent_id");
        rows.extend(db.rows::<AgentRow>(ids.iter().fold(sql(select), |select, id| select.bind(*id))).await?);
    }
    Ok(rows)
}
