//! The id of the request that a task works on, so that every line logged meanwhile, by a plugin too, carries it.

use std::sync::Arc;
use tokio::task::futures::TaskLocalFuture;

tokio::task_local! {
    static REQUEST_ID: Arc<str>;
}

/// Runs `future` as a part of the request with this id.
pub fn with_request_id<F: Future>(id: Arc<str>, future: F) -> TaskLocalFuture<Arc<str>, F> {
    REQUEST_ID.scope(id, future)
}

/// For a field of a log line; `None` outside of requests, in jobs and background tasks.
pub fn request_id() -> Option<Arc<str>> {
    REQUEST_ID.try_with(Arc::clone).ok()
}
