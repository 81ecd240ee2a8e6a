//! Records what a response is built from, to decide whether it may be cached and until when it is current.
//!
//! The rule: everything that a response may depend on is recorded or marks it uncacheable. Capabilities and the
//! request's head report here what a handler reads; a route's promise ([`plugin_api::Route::cached`]) is not trusted
//! where it can be checked.

use crate::{
    caching::revisions::{OwnerRevision, Revision, Revisions},
    scope::HOST_OWNER,
};
use parking_lot::Mutex;
use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

/// Stored data that a response may come from.
#[derive(Clone, Debug, Default)]
pub struct ReadDependencies {
    pub revisions: Vec<OwnerRevision>,
    /// Published views whose owners are among `revisions`.
    pub views: BTreeSet<String>,
}

impl ReadDependencies {
    pub fn are_unchanged_since(&self, revision: Revision) -> bool {
        self.revisions.iter().all(|owner| owner.is_unchanged_since(revision))
    }

    /// Adds what is not among them yet.
    pub fn add(&mut self, more: &Self) {
        for owner in &more.revisions {
            if !self.revisions.iter().any(|known| known.is_same_owner(owner)) {
                self.revisions.push(owner.clone());
            }
        }
        self.views.extend(more.views.iter().cloned());
    }
}

struct Tracker {
    revisions: Arc<Revisions>,
    dependencies: Mutex<ReadDependencies>,
    is_uncacheable: AtomicBool,
}

tokio::task_local! {
    static TRACKER: Arc<Tracker>;
}

/// Runs the work that builds a response, with `initial` as its first dependencies. `revisions` are those of the database, as
/// current as the response has to be. Returns the work's output and,
/// unless something marked it uncacheable, all of its dependencies with the revision at which they were read.
pub async fn track<F: Future>(
    revisions: &Arc<Revisions>,
    initial: ReadDependencies,
    work: F,
) -> (F::Output, Option<(ReadDependencies, Revision)>) {
    // Taken before anything is read: a commit after this makes the response outdated, which is safe; the reverse is
    // not.
    let revision = revisions.current();
    let tracker = Arc::new(Tracker {
        revisions: revisions.clone(),
        dependencies: Mutex::new(initial),
        is_uncacheable: AtomicBool::new(false),
    });
    let output = TRACKER.scope(tracker.clone(), work).await;
    let dependencies = std::mem::take(&mut *tracker.dependencies.lock());
    (output, (!tracker.is_uncacheable.load(Relaxed)).then_some((dependencies, revision)))
}

/// The response that is being built depends on something that has no revision.
pub fn mark_uncacheable() {
    let _ = TRACKER.try_with(|tracker| tracker.is_uncacheable.store(true, Relaxed));
}

/// Whether a response is being built that may be cached.
pub(crate) fn is_tracked() -> bool {
    TRACKER.try_with(|tracker| !tracker.is_uncacheable.load(Relaxed)).unwrap_or(false)
}

/// Adds dependencies of the response that is being built.
pub fn record(dependencies: impl FnOnce(&Revisions) -> ReadDependencies) {
    let _ = TRACKER.try_with(|tracker| {
        let added = dependencies(&tracker.revisions);
        let mut recorded = tracker.dependencies.lock();
        recorded.revisions.extend(added.revisions);
        recorded.views.extend(added.views);
    });
}

/// Adds the tables of a statement that its plugin does not own.
pub(crate) fn record_foreign_tables<'t>(tables: impl Iterator<Item = &'t String>) {
    let _ = TRACKER.try_with(|tracker| {
        for table in tables {
            let mut recorded = tracker.dependencies.lock();
            if table.strip_prefix(HOST_OWNER).is_some_and(|rest| rest.starts_with('_')) {
                recorded.revisions.push(tracker.revisions.of(HOST_OWNER));
            } else if !recorded.views.contains(table) {
                tracker.is_uncacheable.store(true, Relaxed);
            }
        }
    });
}
