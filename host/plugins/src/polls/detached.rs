//! Synchronous code of a plugin (its library, constructor, `stop`) on a thread of its own, for which nobody has to wait.
//!
//! The rule: a thread whose result nobody waits for any more counts as lost until it returns.

use super::lost_threads::{add_detached, remove_detached};
use parking_lot::{Condvar, Mutex};
use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use tokio::{runtime::Handle, sync::Notify};

/// One call. Dropped before its end, it is given up.
pub struct DetachedCall<T> {
    thread: Arc<CallThread<T>>,
    begun: Instant,
}

/// How a call ended.
#[derive(Debug, PartialEq, Eq)]
pub enum CallEnd<T> {
    Returned(T),
    /// Code of the gateway in it panicked: a plugin's panics are caught on its own side.
    Panicked,
}

struct CallThread<T> {
    plugin: Arc<str>,
    progress: Mutex<Progress<T>>,
    changed: Condvar,
    ended: Notify,
}

enum Progress<T> {
    Runs,
    GivenUp,
    Ended(Option<CallEnd<T>>),
}

impl<T: Send + 'static> DetachedCall<T> {
    /// The work may use the runtime in whose context it is started.
    pub fn start(plugin: &str, work: impl FnOnce() -> T + Send + 'static) -> io::Result<Self> {
        let begun = Instant::now();
        let started = Arc::new(CallThread {
            plugin: plugin.into(),
            progress: Mutex::new(Progress::Runs),
            changed: Condvar::new(),
            ended: Notify::new(),
        });
        let (thread, runtime) = (started.clone(), Handle::try_current().ok());
        thread::Builder::new().name("plugin-call".to_owned()).spawn(move || {
            let _context = runtime.as_ref().map(Handle::enter);
            let end = catch_unwind(AssertUnwindSafe(work)).map_or(CallEnd::Panicked, CallEnd::Returned);
            thread.end(end);
        })?;
        Ok(Self { thread: started, begun })
    }

    /// Waits until `limit` after the start of the call. `None`: it still runs.
    pub async fn wait(&self, limit: Duration) -> Option<CallEnd<T>> {
        let ended = async {
            loop {
                let notified = self.thread.ended.notified();
                if let Some(end) = self.thread.take() {
                    return end;
                }
                notified.await;
            }
        };
        tokio::time::timeout(limit.saturating_sub(self.begun.elapsed()), ended).await.ok()
    }

    /// Since its start.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// As [`Self::wait`], for a caller without a runtime.
    pub(crate) fn wait_blocking(&self, limit: Duration) -> Option<CallEnd<T>> {
        let mut progress = self.thread.progress.lock();
        let until = self.begun + limit;
        while matches!(*progress, Progress::Runs) {
            if self.thread.changed.wait_until(&mut progress, until).timed_out() {
                break;
            }
        }
        progress.take()
    }
}

impl<T> CallThread<T> {
    fn take(&self) -> Option<CallEnd<T>> {
        self.progress.lock().take()
    }

    fn end(&self, end: CallEnd<T>) {
        let mut progress = self.progress.lock();
        if matches!(*progress, Progress::GivenUp) {
            drop(progress);
            // A value of the plugin: its drop is code of the plugin, too.
            drop(end);
            return remove_detached(&self.plugin);
        }
        *progress = Progress::Ended(Some(end));
        drop(progress);
        self.changed.notify_all();
        self.ended.notify_waiters();
    }
}

impl<T> Progress<T> {
    fn take(&mut self) -> Option<CallEnd<T>> {
        match self {
            Self::Ended(end) => end.take(),
            Self::Runs | Self::GivenUp => None,
        }
    }
}

impl<T> Drop for DetachedCall<T> {
    fn drop(&mut self) {
        let mut progress = self.thread.progress.lock();
        if matches!(*progress, Progress::Runs) {
            *progress = Progress::GivenUp;
            add_detached(&self.thread.plugin);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::polls::threads_lost;
    use std::sync::mpsc;

    #[test]
    fn a_call_that_is_given_up_counts_until_it_returns() {
        let (release, released) = mpsc::channel::<()>();
        let call = DetachedCall::start("detached", move || released.recv().is_ok()).unwrap();
        assert_eq!(call.wait_blocking(Duration::from_millis(20)), None);
        assert_eq!(threads_lost("detached"), 0, "somebody waits for it");
        drop(call);
        assert_eq!(threads_lost("detached"), 1);
        release.send(()).unwrap();
        while threads_lost("detached") > 0 {
            thread::yield_now();
        }
    }

    #[tokio::test]
    async fn a_call_returns_its_value_or_that_it_panicked() {
        let call = DetachedCall::start("returns", || 7).unwrap();
        assert_eq!(call.wait(Duration::from_secs(20)).await, Some(CallEnd::Returned(7)));
        let call = DetachedCall::<u8>::start("panics", || std::panic::panic_any("at once")).unwrap();
        assert_eq!(call.wait(Duration::from_secs(20)).await, Some(CallEnd::Panicked));
        drop(call);
        assert_eq!(threads_lost("panics"), 0);
    }
}
