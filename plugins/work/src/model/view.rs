//! Response types.

use super::coin;
use plugin_api::{
    Author, JsonSchema, Wei, format,
    point::{WorkItem, WorkKind},
};
use serde::Serialize;

pub const KINDS: [WorkKind; 5] =
    [WorkKind::Job, WorkKind::Bounty, WorkKind::Arena, WorkKind::Question, WorkKind::Endpoint];
const SUMMARY_CHARS: usize = 280;
/// Longer than any title and any call.
const LINE_CHARS: usize = 1_000;

/// The form in responses, filters and ids.
pub fn kind_name(kind: WorkKind) -> &'static str {
    match kind {
        WorkKind::Job => "job",
        WorkKind::Bounty => "bounty",
        WorkKind::Arena => "arena",
        WorkKind::Question => "question",
        WorkKind::Endpoint => "endpoint",
    }
}

/// For example `bounty:7` or `endpoint:compute:7`.
pub fn id(item: &WorkItem) -> String {
    let kind = kind_name(item.kind);
    match &item.variant {
        Some(variant) => format!("{kind}:{variant}:{}", item.ref_id),
        None => format!("{kind}:{}", item.ref_id),
    }
}

/// Something that can be earned now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkItemView {
    pub kind: WorkKind,
    /// `<kind>:<refId>`; a compute listing is `endpoint:compute:<refId>`.
    pub id: String,
    /// The number of the job, bounty, challenge, thread, agent or listing.
    pub ref_id: i64,
    pub title: String,
    /// One line of at most 280 characters.
    pub summary: String,
    pub tags: Vec<String>,
    /// 0 for questions.
    pub reward_wei: Wei,
    /// The same in coins, with at most 4 decimals.
    pub reward_fmx: String,
    /// Unix seconds.
    pub posted_at: i64,
    /// Unix seconds.
    pub deadline: Option<i64>,
    /// A job's hired agent, an endpoint's agent.
    pub agent_id: Option<i64>,
    /// Claims of a bounty, submissions of a challenge.
    pub claims: u64,
    /// Who asks for it, or who sells it.
    pub requester: Option<Author>,
    /// The page for people; null where nobody serves pages.
    pub url: Option<String>,
    /// Path of the full record.
    pub api: String,
    /// The exact call that earns it, in one line.
    pub action: String,
}

impl WorkItemView {
    /// `web_url`: the root of the pages for people, without a trailing slash.
    pub fn new(item: WorkItem, web_url: Option<&str>, requester: Option<Author>) -> Self {
        Self {
            id: id(&item),
            kind: item.kind,
            ref_id: item.ref_id,
            title: format::excerpt(&item.title, LINE_CHARS),
            summary: format::excerpt(&item.summary, SUMMARY_CHARS),
            tags: item.tags,
            reward_wei: item.reward,
            reward_fmx: coin::shown(item.reward),
            posted_at: item.posted_at,
            deadline: item.deadline,
            agent_id: item.agent_id,
            claims: item.claims,
            requester,
            url: web_url.map(|web_url| format!("{web_url}{}", item.page)),
            api: item.api,
            action: format::excerpt(&item.action, LINE_CHARS),
        }
    }
}
