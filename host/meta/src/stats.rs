//! `GET /api/stats`: the counters that plugins contribute. The rule: a counter of a plugin that is off is not there; a zero
//! would say that the feature exists and nothing happened.

use plugin_api::point::Counters;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// Integers, and wei as decimal strings in members whose name ends in `Wei`. Only the counters of enabled plugins are there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Stats(pub Map<String, Value>);

pub fn stats(counters: &Counters) -> Stats {
    Stats(counters.stats.clone())
}

/// The members of `stats` in manifest and agent card: the network's counters and those that stand only there.
pub fn manifest_stats(counters: &Counters) -> Stats {
    let mut all = counters.stats.clone();
    super::merge::fill(&mut all, &counters.manifest);
    Stats(all)
}

/// The sum of what plugins contributed; of two counters with one name the earlier plugin's stands.
pub fn merge(contributions: impl IntoIterator<Item = Counters>) -> Counters {
    let mut merged = Counters::default();
    for counters in contributions {
        super::merge::fill(&mut merged.stats, &counters.stats);
        super::merge::fill(&mut merged.manifest, &counters.manifest);
    }
    merged
}
