//! The renewal of a lease while its run goes on.

use super::{lease::RunLease, store::JobStore};
use std::{
    future::pending,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Why a run must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LostLease {
    /// Another gateway has it, and has counted the run as lost.
    Taken,
    /// The database did not renew it in time.
    NotRenewed,
}

/// Renews the lease of one run.
pub(crate) struct LeaseRenewal {
    pub store: JobStore,
    pub run: Arc<RunLease>,
    pub length: Duration,
    /// After this time without a renewal the run stops. Longer than the lease for a job that may run twice for a moment: it goes on until
    /// another gateway has taken it.
    pub give_up: Duration,
    /// Before it was acquired.
    pub acquired: Instant,
    /// The time limit of the run: one that does not end although it was dropped holds the job no longer.
    pub run_limit: Duration,
}

/// A renewal in a task of its own, which a run that is busy cannot hold up. It ends when this is dropped.
pub(crate) struct RunningRenewal {
    task: JoinHandle<Option<LostLease>>,
    _is_over: DropGuard,
}

impl LeaseRenewal {
    /// Returns when its timer is set, so that a run that holds this thread from its start on is renewed, too.
    pub(crate) async fn start(self) -> RunningRenewal {
        let is_over = CancellationToken::new();
        let task = tokio::spawn(self.run(is_over.clone()));
        tokio::task::yield_now().await;
        RunningRenewal { task, _is_over: is_over.drop_guard() }
    }

    /// Returns how the lease was lost. A statement that is on its way to the database is not interrupted.
    async fn run(self, is_over: CancellationToken) -> Option<LostLease> {
        let (interval, retry) = (self.length.mul_f32(0.3), self.length / 20);
        let (give_up, wait_min) = (self.give_up, self.length / 10);
        let (mut renewed, mut pause) = (self.acquired, interval);
        loop {
            tokio::select! {
                () = is_over.cancelled() => return None,
                () = sleep(pause) => {}
            }
            if self.acquired.elapsed() > self.run_limit {
                return None;
            }
            let sent_at = Instant::now();
            // After a standstill of the process, too, the database is asked who has the lease.
            let wait = give_up.saturating_sub(renewed.elapsed()).max(wait_min);
            let error = match timeout(wait, self.store.renew(&self.run, self.length)).await {
                Ok(Ok(true)) => {
                    (renewed, pause) = (sent_at, interval);
                    continue;
                }
                Ok(Ok(false)) => return Some(LostLease::Taken),
                Ok(Err(error)) => error.to_string(),
                Err(elapsed) => elapsed.to_string(),
            };
            if renewed.elapsed() >= give_up {
                return Some(LostLease::NotRenewed);
            }
            tracing::debug!(plugin = %self.run.plugin, job = %self.run.job, error, "the lease of a run is not renewed yet");
            pause = retry;
        }
    }
}

impl RunningRenewal {
    /// Never ends while the lease is not lost.
    pub(crate) async fn lost(self) -> LostLease {
        let Self { task, _is_over } = self;
        match task.await {
            Ok(Some(lost)) => lost,
            _ => pending().await,
        }
    }
}
