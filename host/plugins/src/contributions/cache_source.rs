//! What something cached was made from.
//!
//! The rule is that of cached responses: it is used again only while all that it depends on is unchanged, and the same plugins serve.

use crate::plugin::ActiveSet;
use gateway_storage::{
    Revision, Revisions,
    read_tracking::{self, ReadDependencies},
};
use std::sync::{Arc, Weak};

pub(super) struct CacheSource {
    plugins: Weak<ActiveSet>,
    dependencies: ReadDependencies,
    since: Revision,
}

impl CacheSource {
    pub(super) fn is_current(&self, plugins: &Arc<ActiveSet>) -> bool {
        // The weak reference keeps the address from being used again.
        std::ptr::eq(self.plugins.as_ptr(), Arc::as_ptr(plugins)) && self.is_unchanged()
    }

    pub(super) fn is_unchanged(&self) -> bool {
        self.dependencies.are_unchanged_since(self.since)
    }

    /// The response that is being built depends on the same data.
    pub(super) fn record(&self) {
        read_tracking::record(|_| self.dependencies.clone());
    }

    /// Adds what is made from `other`, of the same plugins, and as current.
    pub(super) fn add(&mut self, other: &Self) {
        self.dependencies.add(&other.dependencies);
    }
}

/// Runs work whose output is to be cached; without a source it must not be. What the work depends on, the response that is being built
/// depends on, too.
pub(super) async fn track<T>(
    plugins: &Arc<ActiveSet>,
    revisions: &Arc<Revisions>,
    work: impl Future<Output = T>,
) -> (T, Option<CacheSource>) {
    let (output, dependencies) = read_tracking::track(revisions, ReadDependencies::default(), work).await;
    let source =
        dependencies.map(|(dependencies, since)| CacheSource { plugins: Arc::downgrade(plugins), dependencies, since });
    match &source {
        Some(source) => source.record(),
        None => read_tracking::mark_uncacheable(),
    }
    (output, source)
}
