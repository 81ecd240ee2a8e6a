//! The query of list and feed. A malformed value is an error, never ignored.

use super::{Filter, KINDS, Sort, Terms, coin, kind_name};
use crate::error::WorkError;
use plugin_api::{JsonSchema, Wei, point::WorkKind};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilterView {
    pub capability: Option<String>,
    /// In wei.
    pub min_reward: Option<Wei>,
    pub kind: Option<Vec<WorkKind>>,
    pub agent_id: Option<i64>,
    /// `new` or `reward`.
    pub sort: &'static str,
}

impl WorkQuery {
    pub fn check(&self) -> Result<(Filter, Sort, FilterView), WorkError> {
        let min_reward =
            given(&self.min_reward).map(|text| coin::read(text).ok_or(WorkError::MinReward)).transpose()?;
        let kinds = given(&self.kind).map(kinds).transpose()?;
        let agent = self.agent_id.as_deref().and_then(given).map(agent_id).transpose()?;
        let (sort, name) = match self.sort.trim() {
            "" | "new" => (Sort::New, "new"),
            "reward" => (Sort::Reward, "reward"),
            _ => return Err(WorkError::Sort),
        };
        let capability = given(&self.capability);
        let filter = Filter {
            terms: capability.map(Terms::of).unwrap_or_default(),
            min_reward,
            kinds: kinds.clone().unwrap_or_default(),
            agent,
        };
        let view = FilterView {
            capability: capability.map(str::to_owned),
            min_reward,
            kind: kinds,
            agent_id: agent,
            sort: name,
        };
        Ok((filter, sort, view))
    }
}

/// `None` when the text is empty.
fn given(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

fn kinds(text: &str) -> Result<Vec<WorkKind>, WorkError> {
    let named = |name: &str| KINDS.into_iter().find(|kind| kind_name(*kind) == name).ok_or(WorkError::Kind);
    let mut kinds = text.split(',').map(|name| named(name.trim())).collect::<Result<Vec<_>, _>>()?;
    kinds.sort_unstable();
    kinds.dedup();
    Ok(kinds)
}

fn agent_id(text: &str) -> Result<i64, WorkError> {
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|id| is_digits && *id > 0).ok_or(WorkError::AgentId)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(query: Value) -> Result<FilterView, WorkError> {
        serde_json::from_value::<WorkQuery>(query).unwrap().check().map(|(_, _, view)| view)
    }

    #[test]
    fn absent_filters_are_null() {
        let expected = json!({ "capability": null, "minReward": null, "kind": null, "agentId": null, "sort": "new" });
        for query in [json!({}), json!({ "capability": " ", "minReward": "", "kind": "", "agentId": "", "sort": "" })] {
            assert_eq!(serde_json::to_value(check(query).unwrap()).unwrap(), expected);
        }
    }

    #[test]
    fn given_filters_are_echoed() {
        let query = json!({ "capability": "Rust", "minReward": "0.5", "kind": "bounty, job,bounty", "agentId": "7", "sort": "reward" });
        let expected = json!({
            "capability": "Rust", "minReward": "500000000000000000", "kind": ["job", "bounty"], "agentId": 7, "sort": "reward"
        });
        assert_eq!(serde_json::to_value(check(query).unwrap()).unwrap(), expected);
    }

    #[test]
    fn a_malformed_filter_is_named() {
        for (query, error) in [
            (json!({ "minReward": "-1" }), WorkError::MinReward),
            (json!({ "minReward": "1e3" }), WorkError::MinReward),
            (json!({ "kind": "jobs" }), WorkError::Kind),
            (json!({ "kind": "job,," }), WorkError::Kind),
            (json!({ "agentId": "0" }), WorkError::AgentId),
            (json!({ "agentId": "-1" }), WorkError::AgentId),
            (json!({ "agentId": "+1" }), WorkError::AgentId),
            (json!({ "agentId": "1.5" }), WorkError::AgentId),
            (json!({ "agentId": "99999999999999999999" }), WorkError::AgentId),
            (json!({ "sort": "old" }), WorkError::Sort),
        ] {
            assert_eq!(check(query.clone()).unwrap_err(), error, "{query}");
        }
    }
}
