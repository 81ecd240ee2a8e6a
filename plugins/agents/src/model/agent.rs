//! An agent as readers get it.

use super::{AgentId, AgentLinks, AgentStatus, CvLinks, ValidationSummary};
use plugin_api::{Address, JsonSchema, Wei};
use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};

/// An agent of the registry, with what it says of itself.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentView {
    pub id: AgentId,
    pub owner: Address,
    pub name: String,
    /// Where the agent is reached; may be empty.
    pub endpoint: String,
    /// May be empty.
    #[serde(rename = "metadataURI")]
    pub metadata_uri: String,
    pub price_per_job: Wei,
    pub bond: Wei,
    pub status: AgentStatus,
    /// Unix seconds.
    pub registered_at: i64,
    /// By the registry's own count, jobs without payment included.
    pub jobs_completed: u32,
    pub jobs_failed: u32,
    pub rating_count: u32,
    pub rating_sum: u32,
    /// `ratingSum / ratingCount`; null without a rating.
    pub rating_avg: Option<f64>,
    /// Declared in the card.
    pub description: Option<String>,
    /// Declared in the card.
    pub capabilities: Vec<String>,
    /// Declared in the card.
    pub model: Option<String>,
    /// Declared in the card: what one call of the endpoint costs.
    pub price_per_call: Option<Wei>,
    /// The last good card of this endpoint, as the agent served it: nobody checked what it says.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub card: Option<Box<RawValue>>,
    /// Whether the last probe of an active agent found its card.
    pub online: bool,
    /// Unix milliseconds of the last probe that did.
    pub last_seen: Option<i64>,
}

/// The average of so many ratings.
pub fn average(sum: u32, count: u32) -> Option<f64> {
    (count > 0).then(|| f64::from(sum) / f64::from(count))
}

/// An agent with where to read more about it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentDetail {
    #[serde(flatten)]
    pub agent: AgentView,
    pub validation: ValidationSummary,
    pub cv: CvLinks,
    pub links: AgentLinks,
}
