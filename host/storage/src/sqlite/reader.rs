//! Threads that read. Each statement is one snapshot; dropping the caller's future stops it, or skips it when it waits.

use super::{
    connection::Guarded,
    execute::Call,
    queue::{Queue, Refused},
    watch::Cancelled,
};
use crate::StorageError;
use crate::check::Admitted;
use plugin_api::abi::Rows;
use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

pub struct Job {
    admitted: Admitted,
    deadline: Instant,
    cancelled: Cancelled,
    reply: oneshot::Sender<Result<Rows, StorageError>>,
}

/// Tells the thread that works for it that the caller has left.
pub struct CancelOnDrop(pub Cancelled);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// The queue and the threads behind it.
pub struct Readers {
    queue: Arc<Queue<Job>>,
    statement_timeout: Duration,
}

impl Readers {
    pub fn new(statement_timeout: Duration) -> Self {
        Self { queue: Arc::new(Queue::new()), statement_timeout }
    }

    /// The body of one thread.
    pub fn worker(&self, guarded: Guarded) -> impl FnOnce() + Send + 'static {
        let queue = Arc::clone(&self.queue);
        move || {
            while let Some(job) = queue.pop() {
                serve(&guarded, job);
            }
        }
    }

    pub async fn read(&self, admitted: Admitted) -> Result<Rows, StorageError> {
        let (reply, answer) = oneshot::channel();
        let cancelled = Cancelled::default();
        let _guard = CancelOnDrop(cancelled.clone());
        let job = Job {
            admitted,
            // Counted from here, so that waiting behind slow statements is bounded too.
            deadline: Instant::now() + self.statement_timeout,
            cancelled,
            reply,
        };
        self.queue.push(job).map_err(refused)?;
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }

    pub fn close(&self) {
        self.queue.close();
    }
}

fn serve(guarded: &Guarded, job: Job) {
    if job.reply.is_closed() {
        return;
    }
    let result = if Instant::now() >= job.deadline {
        Err(StorageError::Timeout("too many statements are waiting".into()))
    } else {
        let begun = Instant::now();
        let outcome = Call::new(guarded, &job.cancelled).execute(&job.admitted, job.deadline);
        job.admitted.plan.pace.note(begun.elapsed());
        outcome
    };
    // A caller that has left misses nothing.
    let _ = job.reply.send(result.map(|outcome| outcome.rows));
}

pub fn refused(refused: Refused) -> StorageError {
    match refused {
        Refused::Full => StorageError::Unavailable("too many statements are waiting".into()),
        Refused::Closed => stopped(),
    }
}

pub fn stopped() -> StorageError {
    StorageError::Unavailable("the database is closed".into())
}
