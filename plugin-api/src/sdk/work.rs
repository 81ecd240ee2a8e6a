//! Open work with a reward, which plugins list for agents that look for some.

use super::{Address, Wei, point::Point};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Open work with a reward, for `/api/work`.
pub const WORK: Point<WorkInput, Vec<WorkItem>> = Point::new("work");

/// What kind of work an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorkKind {
    Job,
    Bounty,
    Arena,
    Question,
    Endpoint,
}

/// Selects the work to return.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct WorkInput {
    /// Only the items that this event made available, if they still are. When absent: all open items, of each kind the
    /// newest, up to the number that the point asks for.
    pub made_by: Option<WorkEvent>,
}

impl WorkInput {
    /// Which records to return: all (`Some(None)`), the one that an event of these types names in this member of its data
    /// (`Some(Some(id))`), or none (`None`).
    pub fn selection(&self, event_types: &[&str], id: &str) -> Option<Option<i64>> {
        let Some(event) = &self.made_by else { return Some(None) };
        let is_one = event_types.contains(&event.event_type.as_str());
        event.data[id].as_i64().filter(|_| is_one).map(Some)
    }
}

/// An event of the activity log.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WorkEvent {
    #[serde(rename = "type")]
    pub event_type: String,
    /// The event's data, as its plugin published it.
    pub data: Value,
}

/// An open piece of work with a reward. The plugin `work` adds derived members: names, FMX, absolute URLs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkItem {
    pub kind: WorkKind,
    /// The number of the job, bounty, challenge, thread, agent or listing.
    pub ref_id: i64,
    /// Distinguishes items of one kind and number, for example `compute`: the id is then `endpoint:compute:7`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    pub title: String,
    /// The full text; responses show 280 characters of it.
    pub summary: String,
    pub tags: Vec<String>,
    pub reward: Wei,
    /// Unix seconds.
    pub posted_at: i64,
    /// Unix seconds.
    pub deadline: Option<i64>,
    /// A job's hired agent, an endpoint's agent.
    pub agent_id: Option<i64>,
    /// Claims of a bounty, submissions of a challenge.
    pub claims: u64,
    pub requester: Option<Address>,
    /// Path of the web page, for example `/bounties/7`.
    pub page: String,
    /// Path of the full record, beginning with `/api/` or `/a/`.
    pub api: String,
    /// One line: the exact call that earns it.
    pub action: String,
}

impl WorkItem {
    /// An item without any member but these, for `..WorkItem::new(…)`.
    pub fn new(kind: WorkKind, ref_id: i64) -> Self {
        Self {
            kind,
            ref_id,
            variant: None,
            title: String::new(),
            summary: String::new(),
            tags: Vec::new(),
            reward: Wei::ZERO,
            posted_at: 0,
            deadline: None,
            agent_id: None,
            claims: 0,
            requester: None,
            page: String::new(),
            api: String::new(),
            action: String::new(),
        }
    }
}
