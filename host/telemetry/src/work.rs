//! What a task works on, so that every line logged meanwhile, by a plugin too, can name it.

use std::sync::Arc;
use tokio::task::futures::TaskLocalFuture;

tokio::task_local! {
    static WORK: Work;
}

/// A request, or a run of a job.
#[derive(Clone, Debug)]
pub enum Work {
    Request { id: Arc<str>, operation: Arc<str> },
    Job { name: Arc<str> },
}

/// Runs `future` as a part of this work.
pub fn with_work<F: Future>(work: Work, future: F) -> TaskLocalFuture<Work, F> {
    WORK.scope(work, future)
}

/// As [`with_work`], on a thread that does a part of the work of a task.
pub fn run_in_work<T>(work: Option<Work>, run: impl FnOnce() -> T) -> T {
    match work {
        Some(work) => WORK.sync_scope(work, run),
        None => run(),
    }
}

/// `None` in background tasks.
pub fn current_work() -> Option<Work> {
    WORK.try_with(Work::clone).ok()
}

/// For a field of a log line; `None` outside of requests.
pub fn request_id() -> Option<Arc<str>> {
    let id = WORK.try_with(|work| match work {
        Work::Request { id, .. } => Some(id.clone()),
        Work::Job { .. } => None,
    });
    id.ok().flatten()
}
