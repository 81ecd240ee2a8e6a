//! How many threads of the process each plugin holds now, of all its starts.

use parking_lot::RwLock;
use std::{collections::BTreeMap, sync::Arc};

pub(crate) type ThreadCounts = BTreeMap<Arc<str>, usize>;

#[derive(Default)]
struct LostThreads {
    /// Threads that serve: found by the watchdog, which replaces them.
    in_polls: ThreadCounts,
    /// Threads of [`super::DetachedCall`]s that did not return in time.
    detached: ThreadCounts,
}

static LOST: RwLock<LostThreads> =
    RwLock::new(LostThreads { in_polls: ThreadCounts::new(), detached: ThreadCounts::new() });

/// How many threads this plugin holds now.
pub fn threads_lost(plugin: &str) -> usize {
    LOST.read().of(plugin)
}

/// How many of them are threads of its constructor, its `stop`, or the like.
pub fn detached_threads_lost(plugin: &str) -> usize {
    LOST.read().detached.get(plugin).copied().unwrap_or_default()
}

pub(super) fn set_in_polls(counts: ThreadCounts) {
    let mut lost = LOST.write();
    let before = std::mem::replace(&mut lost.in_polls, counts);
    let plugins: Vec<Arc<str>> = before.into_keys().chain(lost.in_polls.keys().cloned()).collect();
    plugins.iter().for_each(|plugin| lost.report(plugin));
}

pub(super) fn add_detached(plugin: &Arc<str>) {
    let mut lost = LOST.write();
    *lost.detached.entry(plugin.clone()).or_default() += 1;
    lost.report(plugin);
}

pub(super) fn remove_detached(plugin: &Arc<str>) {
    let mut lost = LOST.write();
    if let Some(count) = lost.detached.get_mut(plugin) {
        *count = count.saturating_sub(1);
    }
    lost.report(plugin);
}

impl LostThreads {
    fn of(&self, plugin: &str) -> usize {
        let count = |counts: &ThreadCounts| counts.get(plugin).copied().unwrap_or_default();
        count(&self.in_polls) + count(&self.detached)
    }

    fn report(&self, plugin: &str) {
        metrics::gauge!("gateway_plugin_threads_lost", "plugin" => plugin.to_owned())
            .set(u32::try_from(self.of(plugin)).unwrap_or(u32::MAX));
    }
}
