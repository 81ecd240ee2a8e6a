//! Which request a line of the log belongs to: whatever is logged in its course, by a plugin too, carries its id.

use std::sync::Arc;
use tokio::task::futures::TaskLocalFuture;

tokio::task_local! {
    static REQUEST_ID: Arc<str>;
}

/// Does the work as a part of the request.
pub fn of_request<F: Future>(id: Arc<str>, work: F) -> TaskLocalFuture<Arc<str>, F> {
    REQUEST_ID.scope(id, work)
}

/// For a field of a log line; `None` outside of requests, in jobs and background tasks.
pub fn request_id() -> Option<Arc<str>> {
    REQUEST_ID.try_with(Arc::clone).ok()
}
