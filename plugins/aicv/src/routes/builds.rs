//! Builds of one agent that requests share: a build reads from all plugins, and many requests may ask for one agent at a time.
//!
//! The rule: a request is answered by a build that began after it, so it never sees what was true before.

use super::issue_cache::StoredIssue;
use crate::error::CvError;
use futures_util::lock::Mutex as AsyncMutex;
use plugin_api::{AgentId, HandlerError};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// The last build of an agent, while somebody waits for it.
type Slot = AsyncMutex<Option<Build>>;

struct Build {
    began: u64,
    built: Result<Arc<StoredIssue>, CvError>,
}

/// Kept in memory: each gateway has its own.
#[derive(Default)]
pub struct Builds {
    steps: AtomicU64,
    slots: Mutex<HashMap<AgentId, Arc<Slot>>>,
}

impl Builds {
    /// The result of `build`, or of one that another request began since this one asked.
    pub async fn share(
        &self,
        agent: AgentId,
        build: impl Future<Output = Result<Arc<StoredIssue>, HandlerError<CvError>>>,
    ) -> Result<Arc<StoredIssue>, HandlerError<CvError>> {
        let asked = self.steps.fetch_add(1, Ordering::Relaxed);
        // Dropped in the reverse order, so the slot is let go before the place looks whether anyone else has it.
        let place = Place { builds: self, agent };
        let slot = place.slot();
        let mut last = slot.lock().await;
        if let Some(Build { built, .. }) = last.as_ref().filter(|build| build.began > asked) {
            return Ok(built.clone()?);
        }
        let began = self.steps.fetch_add(1, Ordering::Relaxed);
        let built = match build.await {
            Ok(issued) => Ok(issued),
            Err(HandlerError::Caller(error)) => Err(error),
            Err(other) => return Err(other),
        };
        *last = Some(Build { began, built: built.clone() });
        Ok(built?)
    }
}

/// A request that builds or waits. The slot goes with the last one.
struct Place<'b> {
    builds: &'b Builds,
    agent: AgentId,
}

impl Place<'_> {
    fn slot(&self) -> Arc<Slot> {
        locked(&self.builds.slots).entry(self.agent).or_default().clone()
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut slots = locked(&self.builds.slots);
        if slots.get(&self.agent).is_some_and(|slot| Arc::strong_count(slot) == 1) {
            slots.remove(&self.agent);
        }
    }
}

/// The map is whole after each statement, also when another thread panicked in between.
fn locked(slots: &Mutex<HashMap<AgentId, Arc<Slot>>>) -> MutexGuard<'_, HashMap<AgentId, Arc<Slot>>> {
    slots.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::{
        model::{Content, Issue},
        store::documents::IssueHead,
    };
    use plugin_api::Hash256;
    use std::future::{pending, ready};

    fn issue(issued_at: i64) -> Arc<StoredIssue> {
        let hash = Hash256([0; 32]);
        let issue = Issue { content: Content::empty(), issued_at, as_of_block: 1, as_of_block_hash: hash };
        let head = IssueHead { fingerprint: hash, issued_at, written_ms: 1, as_of_block: 1, as_of_block_hash: hash };
        StoredIssue::new(issue, head)
    }

    #[tokio::test]
    async fn those_who_ask_while_it_is_built_share_the_next_build() {
        let (builds, agent) = (Builds::default(), AgentId(7));
        let (begin, begun) = tokio::sync::oneshot::channel();
        let first = builds.share(agent, async {
            begun.await.unwrap();
            Ok(issue(1))
        });
        let second = builds.share(agent, async { Ok(issue(2)) });
        let third = builds.share(agent, async { Ok(issue(3)) });
        let release = async { begin.send(()).unwrap() };
        let (first, second, third, ()) = tokio::join!(first, second, third, release);
        let [first, second, third] = [first, second, third].map(|issued| issued.unwrap().issue.issued_at);
        assert_eq!((first, second == third), (1, true), "{second} {third}");
        assert_ne!(second, first);
        assert!(locked(&builds.slots).is_empty());
        assert_eq!(builds.share(agent, ready(Ok(issue(4)))).await.unwrap().issue.issued_at, 4);
    }

    #[tokio::test]
    async fn a_request_that_goes_away_leaves_nothing() {
        let builds = Builds::default();
        let gone = builds.share(AgentId(7), pending());
        assert!(futures_util::FutureExt::now_or_never(gone).is_none());
        assert!(locked(&builds.slots).is_empty());
        let refused = builds.share(AgentId(7), ready(Err(CvError::UnknownDocument.into()))).await;
        assert!(matches!(refused, Err(HandlerError::Caller(CvError::UnknownDocument))));
    }
}
