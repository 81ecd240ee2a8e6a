//! `GET /api/stats`: the counters that plugins contribute. The rule: a counter of a disabled plugin is absent, because a zero
//! would mean that the feature exists and nothing happened.

use crate::merge::merge_missing;
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

/// The members of `stats` in manifest and agent card: the counters above and those that only these documents show.
pub(crate) fn manifest_stats(counters: &Counters) -> Stats {
    let mut all = counters.stats.clone();
    merge_missing(&mut all, &counters.manifest);
    Stats(all)
}

/// All counters; of two with the same name, the one of the earlier plugin.
pub fn merge_counters(contributions: impl IntoIterator<Item = Counters>) -> Counters {
    let mut merged = Counters::default();
    for counters in contributions {
        merge_missing(&mut merged.stats, &counters.stats);
        merge_missing(&mut merged.manifest, &counters.manifest);
    }
    merged
}
