//! Filters of work. The rule: list and feed filter alike, because the gateway filters a feed, and this plugin a list, by the same
//! labels of an item and the same tests of them.

use super::{FilterView, kind_name};
use plugin_api::{
    point::{WorkItem, WorkKind},
    stream::LabelTest,
};
use std::collections::BTreeMap;

const KIND: &str = "kind";
const REWARD: &str = "reward";
/// The hired agent of a job, otherwise empty.
const HIRED: &str = "hired";
/// What terms are searched in.
const TEXT: &str = "text";

fn label(item: &WorkItem, name: &str) -> String {
    match name {
        KIND => kind_name(item.kind).to_owned(),
        REWARD => item.reward.sort_key(),
        HIRED => item.agent_id.filter(|_| item.kind == WorkKind::Job).map(|id| id.to_string()).unwrap_or_default(),
        _ => format!("{}\n{}\n{}", item.title, item.summary, item.tags.join("\n")).to_lowercase(),
    }
}

pub fn labels(item: &WorkItem) -> BTreeMap<String, String> {
    [KIND, REWARD, HIRED, TEXT].map(|name| (name.to_owned(), label(item, name))).into()
}

/// Whether the item's labels pass all tests.
pub fn matches(item: &WorkItem, tests: &BTreeMap<String, LabelTest>) -> bool {
    tests.iter().all(|(name, test)| test.passes(&label(item, name)))
}

impl FilterView {
    /// Any of the terms must occur in title, summary or tags. An agent keeps its own jobs, and all other kinds of work.
    pub fn tests(&self, terms: Vec<String>) -> BTreeMap<String, LabelTest> {
        let names = |kinds: &Vec<WorkKind>| kinds.iter().map(|kind| kind_name(*kind).to_owned()).collect();
        let tests = [
            (KIND, self.kind.as_ref().map(|kinds| LabelTest::OneOf(names(kinds)))),
            (REWARD, self.min_reward.map(|least| LabelTest::AtLeast(least.sort_key()))),
            (HIRED, self.agent_id.map(|agent| LabelTest::OneOf(vec![String::new(), agent.to_string()]))),
            (TEXT, (!terms.is_empty()).then_some(LabelTest::ContainsAny(terms))),
        ];
        tests.into_iter().filter_map(|(name, test)| Some((name.to_owned(), test?))).collect()
    }
}
