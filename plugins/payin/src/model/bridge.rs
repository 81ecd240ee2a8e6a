//! Whether the bridge of the wrapped coin works. The rule: what is not known to work is paused.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An older report says nothing of now.
const AGE_MAX_S: i64 = 600;
/// What the clocks of two computers may differ by.
const CLOCK_S: i64 = 60;
/// As seconds this is the year 5138: a larger number is milliseconds.
const SECONDS_MAX: i64 = 100_000_000_000;
const MILLIS: i64 = 1000;

/// The bridge, as its report says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bridge {
    /// Why it is paused; none while it works.
    pub paused: Option<String>,
}

impl Bridge {
    pub fn paused(reason: &str) -> Self {
        Self { paused: Some(reason.to_owned()) }
    }

    /// What a report of `{updatedAt, chains}` says: `updatedAt` in Unix seconds or milliseconds, `chains` a list or an object of
    /// `{paused}`.
    pub fn of(report: &Value, now_s: i64) -> Self {
        let updated_at = report["updatedAt"].as_i64().map(|at| if at > SECONDS_MAX { at / MILLIS } else { at });
        let chains: Vec<&Value> = match &report["chains"] {
            Value::Array(chains) => chains.iter().collect(),
            Value::Object(chains) => chains.values().collect(),
            _ => Vec::new(),
        };
        let are_paused: Option<Vec<bool>> = chains.iter().map(|chain| chain["paused"].as_bool()).collect();
        match (updated_at, are_paused) {
            (None, _) => Self::paused("its report does not say when it was made"),
            (Some(at), _) if at > now_s + CLOCK_S => Self::paused("its report is of the future"),
            (Some(at), _) if now_s - at > AGE_MAX_S => Self::paused("its report is older than ten minutes"),
            (_, Some(chains)) if chains.is_empty() => Self::paused("its report names no chain"),
            (_, Some(chains)) if chains.contains(&true) => Self::paused("one of its chains is paused"),
            (_, Some(_)) => Self { paused: None },
            (_, None) => Self::paused("its report does not say which chains are paused"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_known_to_work_is_paused() {
        const NOW: i64 = 1_767_225_600;
        let works = json!([{ "chain": "bsc", "paused": false }, { "paused": false }]);
        for report in [
            json!({ "updatedAt": NOW - 600, "chains": works }),
            json!({ "updatedAt": (NOW - 600) * 1000, "chains": works }),
            json!({ "updatedAt": NOW + 60, "chains": { "bsc": { "paused": false } } }),
        ] {
            assert_eq!(Bridge::of(&report, NOW), Bridge { paused: None }, "{report}");
        }
        for (report, reason) in [
            (json!({ "updatedAt": NOW - 601, "chains": works }), "older"),
            (json!({ "updatedAt": NOW + 61, "chains": works }), "future"),
            (json!({ "chains": works }), "when"),
            (json!({ "updatedAt": NOW, "chains": [] }), "names no chain"),
            (json!({ "updatedAt": NOW, "chains": {} }), "names no chain"),
            (json!({ "updatedAt": NOW }), "names no chain"),
            (json!({ "updatedAt": NOW, "chains": [{ "paused": false }, { "paused": true }] }), "is paused"),
            (json!({ "updatedAt": NOW, "chains": [{ "paused": false }, { "paused": "no" }] }), "which chains"),
            (json!("fine"), "when"),
            (json!(null), "when"),
        ] {
            let paused = Bridge::of(&report, NOW).paused;
            assert!(paused.as_ref().is_some_and(|text| text.contains(reason)), "{report}: {paused:?}");
        }
    }
}
