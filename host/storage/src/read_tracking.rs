//! What an answer is made from, noted while it is made, to decide whether and until when it can be kept.
//!
//! The rule: whatever an answer may depend on is noted or spoils it. Capabilities and the request's head report here what
//! a handler asks for; a route's promise ([`plugin_api::Route::cached`]) is never trusted where it can be checked.

use crate::{Moment, Version, Versions};
use parking_lot::Mutex;
use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

/// Stored data that an answer may come from.
#[derive(Clone, Debug, Default)]
pub struct ReadDependencies {
    pub versions: Vec<Version>,
    /// Published views whose owners are among `versions`.
    pub views: BTreeSet<String>,
}

impl ReadDependencies {
    pub fn are_unchanged_since(&self, moment: Moment) -> bool {
        self.versions.iter().all(|version| version.is_unchanged_since(moment))
    }
}

struct Notes {
    versions: Arc<Versions>,
    sources: Mutex<ReadDependencies>,
    is_uncacheable: AtomicBool,
}

tokio::task_local! {
    static NOTES: Arc<Notes>;
}

/// Runs the work that makes an answer, beginning with the sources it is known to have. Answers its result and, unless
/// something spoiled it, all of its sources with the moment since which they are that.
pub async fn observe<F: Future>(
    versions: &Arc<Versions>,
    known: ReadDependencies,
    work: F,
) -> (F::Output, Option<(ReadDependencies, Moment)>) {
    // Taken before anything is read: a commit from here on makes the answer old, never the other way round.
    let moment = versions.now();
    let notes = Arc::new(Notes {
        versions: versions.clone(),
        sources: Mutex::new(known),
        is_uncacheable: AtomicBool::new(false),
    });
    let output = NOTES.scope(notes.clone(), work).await;
    let sources = std::mem::take(&mut *notes.sources.lock());
    (output, (!notes.is_uncacheable.load(Relaxed)).then_some((sources, moment)))
}

/// The answer that is being made depends on something that has no version.
pub fn mark_uncacheable() {
    let _ = NOTES.try_with(|notes| notes.is_uncacheable.store(true, Relaxed));
}

/// The answer that is being made depends on these too.
pub fn add(sources: impl FnOnce(&Versions) -> ReadDependencies) {
    let _ = NOTES.try_with(|notes| {
        let more = sources(&notes.versions);
        let mut known = notes.sources.lock();
        known.versions.extend(more.versions);
        known.views.extend(more.views);
    });
}

/// A statement reads tables that its plugin does not own.
pub fn reads_foreign<'t>(tables: impl Iterator<Item = &'t String>) {
    const HOST: &str = "host";
    let _ = NOTES.try_with(|notes| {
        for table in tables {
            let mut known = notes.sources.lock();
            if table.strip_prefix(HOST).is_some_and(|rest| rest.starts_with('_')) {
                known.versions.push(notes.versions.of(HOST));
            } else if !known.views.contains(table) {
                notes.is_uncacheable.store(true, Relaxed);
            }
        }
    });
}
