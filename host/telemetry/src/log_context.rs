//! What a task works on, so that every line logged meanwhile, by a plugin too, can name it.

use std::sync::Arc;
use tokio::task::futures::TaskLocalFuture;

tokio::task_local! {
    static LOG_CONTEXT: LogContext;
}

/// A request, or a run of a job.
#[derive(Clone, Debug)]
pub enum LogContext {
    Request { id: Arc<str>, operation: Arc<str> },
    Job { name: Arc<str> },
}

/// Lines logged by `future` name this context.
pub fn with_log_context<F: Future>(context: LogContext, future: F) -> TaskLocalFuture<LogContext, F> {
    LOG_CONTEXT.scope(context, future)
}

/// As [`with_log_context`], on another thread that does a part of a task's work.
pub fn run_in_log_context<T>(context: Option<LogContext>, run: impl FnOnce() -> T) -> T {
    match context {
        Some(context) => LOG_CONTEXT.sync_scope(context, run),
        None => run(),
    }
}

/// `None` in background tasks.
pub fn current_log_context() -> Option<LogContext> {
    LOG_CONTEXT.try_with(LogContext::clone).ok()
}

/// For a field of a log line; `None` outside of requests.
pub fn request_id() -> Option<Arc<str>> {
    let id = LOG_CONTEXT.try_with(|context| match context {
        LogContext::Request { id, .. } => Some(id.clone()),
        LogContext::Job { .. } => None,
    });
    id.ok().flatten()
}
