//! Agents, read through the view `agents_v1`.

use plugin_api::{HostError, Query, sql};
use serde::Deserialize;

#[derive(Deserialize)]
struct AgentWords {
    name: String,
    description: Option<String>,
    capabilities: Option<String>,
}

/// Name, capabilities and description of an agent. Empty when it does not exist.
pub async fn words_of(db: &impl Query, agent: i64) -> Result<String, HostError> {
    let read = sql("SELECT name, description, capabilities FROM agents_v1 WHERE agent_id = $1").bind(agent);
    let Some(AgentWords { name, description, capabilities }) = db.row(read).await? else { return Ok(String::new()) };
    Ok([name, description.unwrap_or_default(), capabilities.unwrap_or_default()].join(" "))
}
