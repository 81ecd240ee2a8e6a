//! Plans and their subscriptions.

use plugin_api::{JsonSchema, Wei, point::Author};
use serde::Serialize;

/// What one can subscribe to.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanView {
    pub id: i64,
    pub payee: Author,
    pub price_per_period: Wei,
    /// Seconds.
    pub period: i64,
    /// Whether one can subscribe now.
    pub active: bool,
    #[serde(rename = "metadataURI")]
    pub metadata_uri: String,
    /// Unix seconds.
    pub created_at: i64,
    pub updated_at_block: i64,
    /// Subscriptions that are paid and not cancelled.
    pub active_subs: i64,
}

/// A subscription.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubView {
    pub id: i64,
    pub plan_id: i64,
    pub payer: Author,
    /// The plan's.
    pub payee: Option<Author>,
    /// The plan's.
    pub price_per_period: Option<Wei>,
    /// The plan's, in seconds.
    pub period: Option<i64>,
    /// Unix seconds; at most 2^63 - 1.
    pub paid_through: i64,
    pub cancelled: bool,
    /// Not cancelled, and paid for longer than now.
    pub active: bool,
    /// Unix seconds.
    pub created_at: i64,
    pub updated_at_block: i64,
}
