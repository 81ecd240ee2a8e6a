//! Activity: events that plugins publish, and rows that topics render.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A new event for the activity log. Plugins send `Data` as they serialised it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewEvent<Data = Value> {
    /// Dotted lower-case name, for example `thread.create`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Checksummed address; none when no single account acted.
    #[serde(default)]
    pub actor: Option<String>,
    /// What the event is about.
    #[serde(rename = "ref", default)]
    pub subject: Option<EventRef>,
    /// Public parts only.
    pub data: Data,
    /// Unix seconds of the event; the gateway's clock when absent.
    #[serde(default)]
    pub ts: Option<i64>,
    /// The gateway drops a second event with this key; for events that could be published twice.
    #[serde(default)]
    pub unique_key: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRef {
    pub kind: String,
    pub id: String,
}

impl EventRef {
    pub fn new(kind: &str, id: impl ToString) -> Self {
        Self { kind: kind.to_owned(), id: id.to_string() }
    }
}

/// A row of the activity log, the input of topics. Ids become visible in increasing order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActivityRow {
    pub id: i64,
    #[serde(rename = "type")]
    pub kind: String,
    pub ts: i64,
    pub actor: Option<String>,
    #[serde(rename = "ref")]
    pub subject: Option<EventRef>,
    pub data: Value,
}

/// A row of the view `host_activity_v1`, which every plugin may read.
#[derive(Clone, Debug, Deserialize)]
pub struct ActivityRecord {
    id: i64,
    #[serde(rename = "type")]
    kind: String,
    ts: i64,
    actor: Option<String>,
    ref_kind: Option<String>,
    ref_id: Option<String>,
    #[serde(deserialize_with = "crate::sdk::json_text")]
    data: Value,
}

impl From<ActivityRecord> for ActivityRow {
    fn from(record: ActivityRecord) -> Self {
        let subject = record.ref_kind.zip(record.ref_id).map(|(kind, id)| EventRef { kind, id });
        let ActivityRecord { id, kind, ts, actor, data, .. } = record;
        Self { id, kind, ts, actor, subject, data }
    }
}
