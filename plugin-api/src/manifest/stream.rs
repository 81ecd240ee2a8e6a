//! Server-sent events: a topic renders activity rows as frames; the gateway sends the frames to subscribers.

use super::ActivityRow;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The stream that a route returns, which the gateway serves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Subscription {
    /// Name of a `stream` contribution.
    pub topic: String,
    /// Replays events after this id.
    pub after_id: Option<i64>,
    /// Replays events after this Unix second; `after_id` takes precedence.
    pub after_ts: Option<i64>,
    /// Only this event name, or names with this prefix when it ends in a dot.
    pub event: Option<String>,
    /// Only frames with all these labels.
    pub labels: BTreeMap<String, String>,
    /// Only frames whose labels pass these tests, by label.
    pub tests: BTreeMap<String, LabelTest>,
}

/// A condition on a label; a frame without the label does not pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelTest {
    /// One of these.
    OneOf(Vec<String>),
    /// At least this text, compared by bytes: for numbers with leading zeros.
    AtLeast(String),
    /// A text that contains one of these.
    ContainsAny(Vec<String>),
}

impl LabelTest {
    pub fn passes(&self, label: &str) -> bool {
        match self {
            Self::OneOf(texts) => texts.iter().any(|text| text == label),
            Self::AtLeast(text) => label >= text.as_str(),
            Self::ContainsAny(texts) => texts.iter().any(|text| label.contains(text.as_str())),
        }
    }
}

/// Input of a `stream` contribution: rows in ascending order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TopicInput {
    pub rows: Vec<ActivityRow>,
}

/// Output of a `stream` contribution: a frame, rendered once and sent to every subscriber.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Id of the activity row.
    pub id: i64,
    /// Unix seconds of the event, for replay by time.
    pub ts: i64,
    /// Name of the server-sent event.
    pub event: String,
    /// One line of JSON.
    pub data: String,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}
