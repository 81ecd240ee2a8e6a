//! The revision of the last commit of each owner of tables. It tells whether a cached response is still current.
//!
//! The rule that must not break: **a client that learns that its write is committed finds the owner's revision
//! advanced.** During a commit the owner's revision is [`COMMIT_IN_PROGRESS`], greater than every other revision, so
//! that readers of the new rows never see the old revision.

use parking_lot::RwLock;
use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

const COMMIT_IN_PROGRESS: u64 = u64::MAX;

/// A position in the order of commits. Data that is read after it was taken is at least that new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Revision(u64);

impl fmt::Display for Revision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The revision of the last commit of one owner: a plugin, or the gateway itself. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct OwnerRevision(Arc<AtomicU64>);

impl OwnerRevision {
    pub(crate) fn is_same_owner(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether the owner has committed nothing after that revision and no commit is in progress.
    pub(crate) fn is_unchanged_since(&self, revision: Revision) -> bool {
        self.0.load(SeqCst) <= revision.0
    }
}

/// The revisions of one database: on SQLite, which this process alone writes, as they are, on PostgreSQL as they were when the
/// versions were last read ([`crate::Database::current_revisions`]).
#[derive(Debug, Default)]
pub struct Revisions {
    commit_count: AtomicU64,
    owners: RwLock<HashMap<String, OwnerRevision>>,
    everything: OwnerRevision,
}

impl Revisions {
    pub fn current(&self) -> Revision {
        Revision(self.commit_count.load(SeqCst))
    }

    pub fn of(&self, owner: &str) -> OwnerRevision {
        if let Some(revision) = self.owners.read().get(owner) {
            return revision.clone();
        }
        self.owners.write().entry(owner.to_owned()).or_default().clone()
    }

    /// Advances with changes whose owner is unknown: migrations, and commits of another process. Every response depends
    /// on it.
    pub fn everything(&self) -> OwnerRevision {
        self.everything.clone()
    }

    /// Marks a commit of these owners as in progress until the guard is dropped. Drop it before a client learns of the
    /// commit.
    pub(crate) fn begin_commit(&self, owners: Vec<OwnerRevision>) -> CommitInProgress<'_> {
        owners.iter().for_each(|owner| owner.0.store(COMMIT_IN_PROGRESS, SeqCst));
        CommitInProgress { revisions: self, owners }
    }
}

/// Advances the owners' revisions when dropped, also after a failed commit: it may have changed something.
pub(crate) struct CommitInProgress<'r> {
    revisions: &'r Revisions,
    owners: Vec<OwnerRevision>,
}

impl Drop for CommitInProgress<'_> {
    fn drop(&mut self) {
        let revision = self.revisions.commit_count.fetch_add(1, SeqCst) + 1;
        self.owners.iter().for_each(|owner| owner.0.store(revision, SeqCst));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_advances_only_the_revisions_of_its_owners() {
        let revisions = Revisions::default();
        let before = revisions.current();
        drop(revisions.begin_commit(vec![revisions.of("forum")]));
        assert!(!revisions.of("forum").is_unchanged_since(before));
        assert!(revisions.of("forum").is_unchanged_since(revisions.current()));
        assert!(revisions.of("hello").is_unchanged_since(before));
    }

    #[test]
    fn nothing_is_unchanged_while_a_commit_is_in_progress() {
        let revisions = Revisions::default();
        let commit = revisions.begin_commit(vec![revisions.of("forum")]);
        assert!(!revisions.of("forum").is_unchanged_since(revisions.current()));
        drop(commit);
        assert!(revisions.of("forum").is_unchanged_since(revisions.current()));
    }
}
