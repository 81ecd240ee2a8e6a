//! Writes of one plugin that run at the same time, and one that runs alone after it has conflicted.
//!
//! The rule: a write that another one made fail twice waits until it is the only one of its plugin in this process, for a moment.
//! So writes of one row end, however many there are, and writes of different rows wait for nobody.

use super::conflicts;
use crate::polls::{BACKGROUND_TASK, OperationNumber, current_operation, operation_name};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{
    sync::{Mutex, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock},
    time::timeout,
};

/// From this attempt on a write runs alone.
const FIRST_ATTEMPT_ALONE: u32 = 3;
/// How long it waits for that. In a crowd it waits for all those before it, milliseconds for each; one that hangs must not
/// hold up the others for longer.
const ALONE_WAIT_MAX: Duration = if cfg!(test) { Duration::from_millis(50) } else { Duration::from_secs(5) };

/// Of one plugin in this process.
#[derive(Default)]
pub struct WriteAdmission {
    lock: Arc<RwLock<()>>,
    /// The last write of a job, a task or a service conflicted: nobody counts its attempts.
    has_job_conflicted: AtomicBool,
}

/// Of one attempt of a write.
pub struct WritePermit {
    admission: Arc<WriteAdmission>,
    is_exclusive: bool,
    /// The attempt before ran alone.
    has_pause: bool,
    /// Of the code that writes.
    operation: Option<OperationNumber>,
    state: Mutex<PermitState>,
}

enum PermitState {
    Waiting,
    Shared { _permit: OwnedRwLockReadGuard<()> },
    Exclusive { _permit: OwnedRwLockWriteGuard<()> },
    Released,
}

impl WriteAdmission {
    /// `attempt` counts from 1.
    pub fn nth(self: &Arc<Self>, attempt: u32) -> WritePermit {
        self.permit(attempt >= FIRST_ATTEMPT_ALONE, attempt > FIRST_ATTEMPT_ALONE)
    }

    pub fn of_job(self: &Arc<Self>) -> WritePermit {
        self.permit(self.has_job_conflicted.load(Relaxed), false)
    }

    fn permit(self: &Arc<Self>, is_exclusive: bool, has_pause: bool) -> WritePermit {
        WritePermit {
            admission: self.clone(),
            is_exclusive,
            has_pause,
            operation: current_operation(),
            state: Mutex::new(PermitState::Waiting),
        }
    }
}

impl WritePermit {
    /// Waits for it, the first time.
    pub async fn acquire(&self) {
        let mut state = self.state.lock().await;
        if !matches!(*state, PermitState::Waiting) {
            return;
        }
        if self.has_pause {
            conflicts::pause().await;
        }
        let lock = self.admission.lock.clone();
        *state = if self.is_exclusive {
            match timeout(ALONE_WAIT_MAX, lock.write_owned()).await {
                Ok(permit) => PermitState::Exclusive { _permit: permit },
                Err(_elapsed) => PermitState::Released,
            }
        } else {
            PermitState::Shared { _permit: lock.read_owned().await }
        };
    }

    pub async fn release(&self) {
        *self.state.lock().await = PermitState::Released;
    }

    pub(crate) fn count_conflict(&self, plugin: &str) {
        let operation = self.operation.and_then(operation_name);
        conflicts::count(plugin, operation.as_deref().unwrap_or(BACKGROUND_TASK));
    }

    pub(crate) fn note_job(&self, has_conflict: bool) {
        self.admission.has_job_conflicted.store(has_conflict, Relaxed);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::{
        future::Future,
        pin::pin,
        task::{Context, Waker},
    };

    fn is_ready(future: impl Future<Output = ()>) -> bool {
        pin!(future).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[tokio::test]
    async fn the_third_attempt_runs_alone_and_others_wait_for_it() {
        let admission = Arc::<WriteAdmission>::default();
        let (one, other, third) = (admission.nth(1), admission.nth(2), admission.nth(3));
        assert!(is_ready(one.acquire()) && is_ready(other.acquire()), "writes run at the same time");
        assert!(!is_ready(third.acquire()), "it waits for those that run");
        one.release().await;
        other.release().await;
        assert!(is_ready(third.acquire()));
        let later = admission.nth(1);
        assert!(!is_ready(later.acquire()), "it is alone");
        third.release().await;
        assert!(is_ready(later.acquire()));
    }

    /// Of another gateway, which the lock does not keep away.
    #[tokio::test]
    async fn an_attempt_after_one_that_ran_alone_pauses_first() {
        let admission = Arc::<WriteAdmission>::default();
        assert!(is_ready(admission.nth(3).acquire()));
        let begun = std::time::Instant::now();
        admission.nth(4).acquire().await;
        assert!(begun.elapsed() >= Duration::from_millis(5), "{:?}", begun.elapsed());
    }

    #[tokio::test]
    async fn one_that_hangs_holds_up_nobody_for_long() {
        let admission = Arc::<WriteAdmission>::default();
        let hanging = admission.nth(1);
        hanging.acquire().await;
        admission.nth(3).acquire().await;
        assert!(is_ready(admission.nth(1).acquire()), "nobody waits to be alone any more");
    }

    #[tokio::test]
    async fn a_permit_is_waited_for_once() {
        let admission = Arc::<WriteAdmission>::default();
        let alone = admission.nth(9);
        alone.acquire().await;
        assert!(is_ready(alone.acquire()), "it has its permit");
        alone.release().await;
        assert!(is_ready(alone.acquire()), "it is over");
        assert!(is_ready(admission.nth(1).acquire()));
    }

    #[tokio::test]
    async fn a_job_that_conflicted_runs_alone_the_next_time() {
        let admission = Arc::<WriteAdmission>::default();
        let other = admission.nth(1);
        other.acquire().await;
        admission.of_job().note_job(true);
        assert!(!is_ready(admission.of_job().acquire()));
        admission.of_job().note_job(false);
        assert!(is_ready(admission.of_job().acquire()));
    }
}
