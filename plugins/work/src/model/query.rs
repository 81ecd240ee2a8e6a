//! The query of list and feed. A malformed value is an error, never ignored.

use super::{KINDS, Sort, coin, kind_name};
use crate::error::WorkError;
use plugin_api::{AgentId, JsonSchema, Wei, format::given, point::WorkKind};
use serde::{Deserialize, Serialize};

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct WorkQuery {
    /// Words; work that has any of them in title, summary or tags.
    capability: String,
    /// Digits are wei, digits with a dot FMX.
    #[schemars(regex(pattern = r"^([0-9]{1,78}|[0-9]+\.[0-9]{1,18})?$"))]
    min_reward: String,
    /// `job`, `bounty`, `arena`, `question`, `endpoint`, or several of them with commas.
    kind: String,
    /// An agent: of jobs only its own, and words from what it says of itself unless `capability` names some.
    #[schemars(with = "Option<u64>")]
    agent_id: Option<String>,
    /// `new` (default) or `reward`.
    #[schemars(regex(pattern = "^(new|reward)?$"))]
    sort: String,
}

/// The query as it was understood.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilterView {
    pub capability: Option<String>,
    /// In wei.
    pub min_reward: Option<Wei>,
    pub kind: Option<Vec<WorkKind>>,
    #[schemars(with = "Option<i64>")]
    pub agent_id: Option<AgentId>,
    /// `new` or `reward`.
    #[schemars(with = "String")]
    pub sort: Sort,
}

impl WorkQuery {
    pub fn check(&self) -> Result<FilterView, WorkError> {
        Ok(FilterView {
            capability: given(&self.capability).map(str::to_owned),
            min_reward: given(&self.min_reward).map(|text| coin::read(text).ok_or(WorkError::MinReward)).transpose()?,
            kind: given(&self.kind).map(kinds).transpose()?,
            agent_id: self.agent_id.as_deref().and_then(given).map(agent_id).transpose()?,
            sort: match self.sort.trim() {
                "" | "new" => Sort::New,
                "reward" => Sort::Reward,
                _ => return Err(WorkError::Sort),
            },
        })
    }
}

fn kinds(text: &str) -> Result<Vec<WorkKind>, WorkError> {
    let named = |name: &str| KINDS.into_iter().find(|kind| kind_name(*kind) == name).ok_or(WorkError::Kind);
    let mut kinds = text.split(',').map(|name| named(name.trim())).collect::<Result<Vec<_>, _>>()?;
    kinds.sort_unstable();
    kinds.dedup();
    Ok(kinds)
}

fn agent_id(text: &str) -> Result<AgentId, WorkError> {
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|id| is_digits && *id > 0).map(AgentId).ok_or(WorkError::AgentId)
}
