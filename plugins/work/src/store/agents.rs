//! Agents, read through the view `agents_v1`.

use plugin_api::{AgentId, HostError, Query, sql};

/// Name, description and capabilities of an agent. Empty when it does not exist.
pub async fn words_of(db: &impl Query, agent: AgentId) -> Result<String, HostError> {
    let read =
        sql("SELECT name, coalesce(description, ''), coalesce(capabilities, '') FROM agents_v1 WHERE agent_id = $1");
    let words: Option<[String; 3]> = db.row(read.bind(agent)).await?;
    Ok(words.map(|words| words.join(" ")).unwrap_or_default())
}
