//! How old an answer made from stored data is: a number per owner of tables that moves with every commit.
//!
//! The rule that must not break: **who was told that a write is done finds its owner's number moved.** While a commit is
//! under way the number is [`UNDER_WAY`], later than any moment, so that readers of the new state never meet the old number.

use parking_lot::RwLock;
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

const UNDER_WAY: u64 = u64::MAX;

/// A point in the order of commits; what is read after it was taken is at least that new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

/// The last commit of one owner: a plugin, or the gateway itself.
#[derive(Clone, Debug, Default)]
pub struct Version(Arc<AtomicU64>);

impl Version {
    /// Whether both are of one owner.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether nothing was committed after that moment, and nothing is about to be.
    pub fn is_unchanged_since(&self, moment: Moment) -> bool {
        self.0.load(SeqCst) <= moment.0
    }
}

/// The versions of one database that this process alone writes.
#[derive(Debug, Default)]
pub struct Versions {
    commits: AtomicU64,
    owners: RwLock<HashMap<String, Version>>,
    everything: Version,
}

impl Versions {
    pub fn now(&self) -> Moment {
        Moment(self.commits.load(SeqCst))
    }

    pub fn of(&self, owner: &str) -> Version {
        if let Some(version) = self.owners.read().get(owner) {
            return version.clone();
        }
        self.owners.write().entry(owner.to_owned()).or_default().clone()
    }

    /// What changes of unknown owner move: migrations, another process. Every answer depends on it.
    pub fn everything(&self) -> Version {
        self.everything.clone()
    }

    /// Marks the owners until the guard is dropped, which is to happen before anybody hears of the commit.
    pub fn commit(&self, changed: Vec<Version>) -> CommitUnderWay<'_> {
        changed.iter().for_each(|version| version.0.store(UNDER_WAY, SeqCst));
        CommitUnderWay { versions: self, changed }
    }
}

/// Moves the versions when it ends, also of a commit that failed: nobody could say what it left.
pub struct CommitUnderWay<'v> {
    versions: &'v Versions,
    changed: Vec<Version>,
}

impl Drop for CommitUnderWay<'_> {
    fn drop(&mut self) {
        let moment = self.versions.commits.fetch_add(1, SeqCst) + 1;
        self.changed.iter().for_each(|version| version.0.store(moment, SeqCst));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_moves_the_versions_of_its_owners_alone() {
        let versions = Versions::default();
        let before = versions.now();
        drop(versions.commit(vec![versions.of("forum")]));
        assert!(!versions.of("forum").is_unchanged_since(before));
        assert!(versions.of("forum").is_unchanged_since(versions.now()));
        assert!(versions.of("hello").is_unchanged_since(before));
    }

    #[test]
    fn nothing_is_unchanged_while_a_commit_is_under_way() {
        let versions = Versions::default();
        let under_way = versions.commit(vec![versions.of("forum")]);
        assert!(!versions.of("forum").is_unchanged_since(versions.now()));
        drop(under_way);
        assert!(versions.of("forum").is_unchanged_since(versions.now()));
    }
}
