//! Server-sent events: a topic renders activity rows into frames; the gateway serves frames to subscribers.

use super::ActivityRow;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a route asks the gateway to serve.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Subscription {
    /// Name of a `stream` contribution.
    pub topic: String,
    /// Replay what comes after this id.
    pub after_id: Option<i64>,
    /// Replay what happened after this unix second; `after_id` wins.
    pub after_ts: Option<i64>,
    /// Only this event name, or names with this prefix when it ends in a dot.
    pub event: Option<String>,
    /// Only frames that carry all these labels.
    pub labels: BTreeMap<String, String>,
    /// Only frames whose labels pass these tests, by label.
    pub tests: BTreeMap<String, LabelTest>,
}

/// What a label must be; a frame without it does not pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelTest {
    /// One of these.
    OneOf(Vec<String>),
    /// This or behind it, in the order of bytes: for numbers with leading zeros.
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

/// Output of a `stream` contribution, per event worth sending: built once, sent to every reader.
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
