//! Rows of the activity log.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

/// A record that an event is about.
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

/// A row of the activity log. Ids become visible in increasing order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActivityRow<Data = Value> {
    pub id: i64,
    #[serde(rename = "type")]
    pub kind: String,
    pub ts: i64,
    pub actor: Option<String>,
    #[serde(rename = "ref")]
    pub subject: Option<EventRef>,
    pub data: Data,
}

/// A row as a topic gets it: the data is the text that the plugin published.
pub type TopicRow = ActivityRow<Box<RawValue>>;

/// A row of the view `host_activity_v1`, which every plugin may read.
#[derive(Clone, Debug, Deserialize)]
#[serde(bound = "Data: DeserializeOwned")]
pub struct ActivityRecord<Data = Value> {
    id: i64,
    #[serde(rename = "type")]
    kind: String,
    ts: i64,
    actor: Option<String>,
    ref_kind: Option<String>,
    ref_id: Option<String>,
    #[serde(deserialize_with = "crate::json_text")]
    data: Data,
}

impl<Data> From<ActivityRecord<Data>> for ActivityRow<Data> {
    fn from(record: ActivityRecord<Data>) -> Self {
        let subject = record.ref_kind.zip(record.ref_id).map(|(kind, id)| EventRef { kind, id });
        let ActivityRecord { id, kind, ts, actor, data, .. } = record;
        Self { id, kind, ts, actor, subject, data }
    }
}
