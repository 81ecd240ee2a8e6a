//! Response types of an agent.

use super::{AgentLinks, AgentStatus, CvLinks, Declared, Standing, Uptime, ValidationSummary};
use plugin_api::{Address, AgentId, HostError, JsonSchema, Wei, render_json};
use serde::{Deserialize, Serialize};

/// What the registry tells of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentRecord {
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
}

impl AgentRecord {
    /// Counts an outcome. `standing` must include its rating already.
    pub fn count(&mut self, success: bool, standing: &Standing) {
        let counter = if success { &mut self.jobs_completed } else { &mut self.jobs_failed };
        *counter = counter.saturating_add(1);
        (self.rating_count, self.rating_sum) = (standing.rating_count, standing.rating_sum);
    }

    /// The JSON of the row's column `kept`, for responses.
    pub fn rendered(&self) -> Result<String, HostError> {
        render_json(&RatedAgent { record: self, rating_avg: average(self.rating_sum, self.rating_count) })
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RatedAgent<'a> {
    #[serde(flatten)]
    record: &'a AgentRecord,
    /// `ratingSum / ratingCount`; null without a rating.
    rating_avg: Option<f64>,
}

/// An agent of the registry, with what it says of itself.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "schema of a response that is assembled from rendered JSON")]
pub struct AgentView {
    #[schemars(flatten)]
    rendered: RatedAgent<'static>,
    #[schemars(flatten)]
    declared: Declared<'static>,
    #[schemars(flatten)]
    presence: Presence,
}

/// What is known of an agent only when it is read.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Presence {
    /// Whether the last probe of an active agent found its card.
    pub online: bool,
}

/// The average rating.
pub fn average(sum: u32, count: u32) -> Option<f64> {
    (count > 0).then(|| f64::from(sum) / f64::from(count))
}

/// An agent with where to read more about it.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "schema of a response that is assembled from rendered JSON")]
pub struct AgentDetail {
    #[schemars(flatten)]
    rendered: RatedAgent<'static>,
    #[schemars(flatten)]
    declared: Declared<'static>,
    #[schemars(flatten)]
    state: DetailState<'static>,
}

/// The members of an [`AgentDetail`] that are not in the rows' rendered JSON.
#[derive(Serialize, JsonSchema)]
pub struct DetailState<'l> {
    #[serde(flatten)]
    pub presence: Presence,
    pub validation: ValidationSummary,
    pub uptime: Uptime,
    /// Null where no plugin serves records.
    pub cv: Option<CvLinks<'l>>,
    pub links: &'l AgentLinks,
}
