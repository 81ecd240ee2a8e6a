//! The order of work.

use super::id;
use plugin_api::point::WorkItem;
use serde::Serialize;
use std::cmp::Reverse;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    #[default]
    New,
    Reward,
}

impl Sort {
    /// Sorts by age or reward; ties by id.
    pub fn apply(self, items: &mut [WorkItem]) {
        let newest = |item: &WorkItem| (Reverse(item.posted_at), id(item));
        match self {
            Self::New => items.sort_by_cached_key(newest),
            Self::Reward => items.sort_by_cached_key(|item| (Reverse(item.reward), newest(item))),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ties_are_broken_by_age_and_then_by_id() {
        let item = |posted_at: i64, ref_id: i64, reward: &str| {
            let item = json!({
                "kind": "bounty", "refId": ref_id, "title": "", "summary": "", "tags": [], "reward": reward,
                "postedAt": posted_at, "claims": 0, "page": "", "api": "", "action": ""
            });
            serde_json::from_value::<WorkItem>(item).unwrap()
        };
        let mut items = vec![item(1, 3, "9"), item(2, 10, "1"), item(2, 9, "10"), item(1, 4, "10")];
        let ids = |items: &[WorkItem]| items.iter().map(|item| item.ref_id).collect::<Vec<_>>();
        Sort::New.apply(&mut items);
        assert_eq!(ids(&items), [10, 9, 3, 4], "ids are texts");
        Sort::Reward.apply(&mut items);
        assert_eq!(ids(&items), [9, 4, 3, 10]);
    }
}
