//! Agents as routes read them: the registry's row with the card of its endpoint.

use crate::model::{AgentId, AgentStatus};
use plugin_api::{Address, HostError, Query, Wei, json_text, sql};
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct AgentRow {
    pub id: AgentId,
    pub owner: Address,
    pub name: String,
    pub endpoint: String,
    pub metadata_uri: String,
    pub price_per_job: Wei,
    pub bond: Wei,
    pub status: AgentStatus,
    pub registered_at: i64,
    pub jobs_completed: u32,
    pub jobs_failed: u32,
    pub rating_count: u32,
    pub rating_sum: u32,
    pub card: Option<String>,
    pub description: Option<String>,
    #[serde(deserialize_with = "json_text")]
    pub capabilities: Vec<String>,
    pub model: Option<String>,
    pub price_per_call: Option<Wei>,
    pub online: bool,
    pub last_seen_ms: Option<i64>,
}

/// The columns of an [`AgentRow`].
pub const COLUMNS: &str = "a.id, a.owner, a.name, a.endpoint, a.metadata_uri, a.price_per_job, a.bond, a.status, \
     a.registered_at, a.jobs_completed, a.jobs_failed, a.rating_count, a.rating_sum, c.card, c.description, \
     coalesce(c.capabilities, '[]') AS capabilities, c.model, c.price_per_call, \
     coalesce(c.online, 0) * a.active AS online, c.last_seen_ms";

/// A card belongs to the endpoint that gave it.
pub const TABLES: &str = "agents_agents a LEFT JOIN agents_cards c ON c.agent_id = a.id AND c.endpoint = a.endpoint";

pub async fn find(db: &impl Query, id: AgentId) -> Result<Option<(AgentRow, Extra)>, HostError> {
    let outcome =
        db.run(sql(format!("SELECT {COLUMNS}, a.slug, c.image FROM {TABLES} WHERE a.id = $1")).bind(id)).await?;
    Ok(outcome.first()?.zip(outcome.first()?))
}

/// What only pages about one agent show.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Extra {
    pub slug: String,
    pub image: Option<String>,
}
