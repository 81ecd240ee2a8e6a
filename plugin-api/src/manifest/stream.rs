//! Server-sent events: a topic renders activity rows as frames; the gateway sends the frames to subscribers.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The stream that a route returns, which the gateway serves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Subscription {
    /// Name of a topic.
    pub topic: String,
    /// Replays events after this id.
    pub after_id: Option<i64>,
    /// Replays events after this Unix second, at most the newest 500; `after_id` takes precedence.
    pub after_ts: Option<i64>,
    /// The types of the activity rows that a replay by time counts, or prefixes that end in a dot; empty counts all.
    pub row_types: Vec<String>,
    /// Whether the client had a connection before, and named the last event that it received.
    pub is_resumed: bool,
    /// Only this event name, or names with this prefix when it ends in a dot.
    pub event: Option<String>,
    /// Only frames with all these labels.
    pub labels: BTreeMap<String, String>,
    /// Only frames whose labels pass these tests, by label.
    pub tests: BTreeMap<String, LabelTest>,
}

/// The label of a frame about events that are no longer true: their types, separated by spaces. A subscription to one of
/// them gets the frame, too.
pub const RETRACTED_TYPES_LABEL: &str = "retracted_types";

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
