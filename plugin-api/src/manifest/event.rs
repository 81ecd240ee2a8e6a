//! Activity: what a plugin publishes and what a topic renders.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An event on its way into the activity log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewEvent {
    /// Dotted lower-case name, for example `thread.create`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Checksummed address; none when nobody in particular acted.
    #[serde(default)]
    pub actor: Option<String>,
    /// What the event is about.
    #[serde(rename = "ref", default)]
    pub about: Option<EventRef>,
    /// Public parts only.
    pub data: Value,
    /// Unix seconds when the thing happened; the gateway's clock when absent.
    #[serde(default)]
    pub ts: Option<i64>,
    /// A repeat of a key is dropped; for events that could be published twice.
    #[serde(default)]
    pub unique_key: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRef {
    pub kind: String,
    pub id: String,
}

/// A row of the activity log, as topics get it. Ids become visible in increasing order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActivityRow {
    pub id: i64,
    #[serde(rename = "type")]
    pub kind: String,
    pub ts: i64,
    pub actor: Option<String>,
    #[serde(rename = "ref")]
    pub about: Option<EventRef>,
    pub data: Value,
}
