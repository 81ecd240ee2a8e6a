//! Filters and sort orders of work.

use super::{Terms, id, text};
use plugin_api::{
    Wei,
    manifest::LabelTest,
    point::{WorkItem, WorkKind},
};
use std::{cmp::Reverse, collections::BTreeMap};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Any of them must occur in title, summary or tags.
    pub terms: Terms,
    pub min_reward: Option<Wei>,
    /// All kinds when empty.
    pub kinds: Vec<WorkKind>,
    /// Only jobs of this agent, and all other kinds of work.
    pub agent: Option<i64>,
}

/// Labels of frames. By them the gateway filters a feed as [`Filter::matches`] filters a list.
pub mod label {
    pub const KIND: &str = "kind";
    pub const REWARD: &str = "reward";
    /// The hired agent of a job, otherwise empty.
    pub const HIRED: &str = "hired";
    pub const TEXT: &str = "text";
}

fn hired(item: &WorkItem) -> Option<i64> {
    item.agent_id.filter(|_| item.kind == WorkKind::Job)
}

pub fn labels(item: &WorkItem) -> BTreeMap<String, String> {
    let labels = [
        (label::KIND, super::kind_name(item.kind).to_owned()),
        (label::REWARD, item.reward.sort_key()),
        (label::HIRED, hired(item).map(|agent| agent.to_string()).unwrap_or_default()),
        (label::TEXT, text(item)),
    ];
    labels.map(|(name, value)| (name.to_owned(), value)).into()
}

impl Filter {
    pub fn matches(&self, item: &WorkItem) -> bool {
        let is_kind = self.kinds.is_empty() || self.kinds.contains(&item.kind);
        let is_paid = self.min_reward.is_none_or(|least| item.reward >= least);
        let is_mine = self.agent.is_none() || hired(item).is_none() || hired(item) == self.agent;
        is_kind && is_paid && is_mine && self.terms.match_any(&text(item))
    }

    pub fn tests(&self) -> BTreeMap<String, LabelTest> {
        let mut tests = BTreeMap::new();
        let mut add = |label: &str, test| drop(tests.insert(label.to_owned(), test));
        if !self.kinds.is_empty() {
            let names = self.kinds.iter().map(|kind| super::kind_name(*kind).to_owned());
            add(label::KIND, LabelTest::OneOf(names.collect()));
        }
        if let Some(least) = self.min_reward {
            add(label::REWARD, LabelTest::AtLeast(least.sort_key()));
        }
        if let Some(agent) = self.agent {
            add(label::HIRED, LabelTest::OneOf(vec![String::new(), agent.to_string()]));
        }
        if !self.terms.words().is_empty() {
            add(label::TEXT, LabelTest::ContainsAny(self.terms.words().to_vec()));
        }
        tests
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn item(kind: WorkKind, reward: &str, agent_id: Option<i64>, title: &str) -> WorkItem {
        WorkItem {
            kind,
            ref_id: 7,
            variant: None,
            title: title.to_owned(),
            summary: "Some Summary".to_owned(),
            tags: vec!["tagged".to_owned()],
            reward: reward.parse().unwrap(),
            posted_at: 1,
            deadline: None,
            agent_id,
            claims: 0,
            requester: None,
            page: "/x".to_owned(),
            api: "/api/x".to_owned(),
            action: "POST /api/x".to_owned(),
        }
    }

    /// The gateway's filter by labels.
    fn feed_matches(filter: &Filter, item: &WorkItem) -> bool {
        let labels = labels(item);
        filter.tests().iter().all(|(name, test)| labels.get(name).is_some_and(|label| test.passes(label)))
    }

    #[test]
    fn list_and_feed_filter_alike() {
        let items = [
            item(WorkKind::Job, "10", Some(1), "Dig"),
            item(WorkKind::Job, "9", Some(2), "Sort DATA"),
            item(WorkKind::Bounty, "100", None, "Data"),
            item(WorkKind::Endpoint, "0", Some(2), "Sell"),
            item(WorkKind::Question, "0", None, "Why"),
        ];
        let all = Filter::default();
        let filters = [
            (all.clone(), [true; 5]),
            (
                Filter { kinds: vec![WorkKind::Job, WorkKind::Question], ..all.clone() },
                [true, true, false, false, true],
            ),
            (Filter { min_reward: Some("10".parse().unwrap()), ..all.clone() }, [true, false, true, false, false]),
            (Filter { agent: Some(2), ..all.clone() }, [false, true, true, true, true]),
            (Filter { terms: Terms::of("data dig"), ..all.clone() }, [true, true, true, false, false]),
            (Filter { terms: Terms::of("TAG"), ..all.clone() }, [true; 5]),
            (
                Filter { terms: Terms::of("summary"), kinds: vec![WorkKind::Bounty], ..all },
                [false, false, true, false, false],
            ),
        ];
        for (filter, expected) in filters {
            for (item, expected) in items.iter().zip(expected) {
                assert_eq!(filter.matches(item), expected, "{filter:?} of {item:?}");
                assert_eq!(feed_matches(&filter, item), expected, "the feed: {filter:?} of {item:?}");
            }
        }
    }

    #[test]
    fn orders_and_ties() {
        let at = |posted_at, ref_id, reward: &str| WorkItem {
            posted_at,
            ref_id,
            ..item(WorkKind::Bounty, reward, None, "")
        };
        let mut items = vec![at(1, 3, "9"), at(2, 10, "1"), at(2, 9, "10"), at(1, 4, "10")];
        let ids = |items: &[WorkItem]| items.iter().map(|item| item.ref_id).collect::<Vec<_>>();
        Sort::New.apply(&mut items);
        assert_eq!(ids(&items), [10, 9, 3, 4], "ids are texts");
        Sort::Reward.apply(&mut items);
        assert_eq!(ids(&items), [9, 4, 3, 10]);
    }
}
