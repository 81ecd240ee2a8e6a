//! Writes of one plugin that run at the same time, and one that runs alone after it has collided.
//!
//! The rule: a write that another one made fail twice waits until it is the only one of its plugin in this process, for a moment.
//! So writes of one row end, however many there are, and writes of different rows wait for nobody.

use crate::{
    collisions,
    polls::{BACKGROUND_TASK, PlaceId, current_place, place_name},
};
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
pub struct WriteTurns {
    lock: Arc<RwLock<()>>,
    /// The last write of a job or task collided: nobody counts its attempts.
    has_job_collided: AtomicBool,
}

/// Of one attempt of a write.
pub struct WriteTurn {
    turns: Arc<WriteTurns>,
    is_alone: bool,
    /// Of the code that writes.
    place: Option<PlaceId>,
    state: Mutex<TurnState>,
}

enum TurnState {
    Waiting,
    Beside { _turn: OwnedRwLockReadGuard<()> },
    Alone { _turn: OwnedRwLockWriteGuard<()> },
    Over,
}

impl WriteTurns {
    /// `attempt` counts from 1.
    pub fn nth(self: &Arc<Self>, attempt: u32) -> WriteTurn {
        self.turn(attempt >= FIRST_ATTEMPT_ALONE)
    }

    pub fn of_job(self: &Arc<Self>) -> WriteTurn {
        self.turn(self.has_job_collided.load(Relaxed))
    }

    fn turn(self: &Arc<Self>, is_alone: bool) -> WriteTurn {
        WriteTurn { turns: self.clone(), is_alone, place: current_place(), state: Mutex::new(TurnState::Waiting) }
    }
}

impl WriteTurn {
    /// Waits for it, the first time.
    pub async fn begin(&self) {
        let mut state = self.state.lock().await;
        if !matches!(*state, TurnState::Waiting) {
            return;
        }
        let lock = self.turns.lock.clone();
        *state = if self.is_alone {
            match timeout(ALONE_WAIT_MAX, lock.write_owned()).await {
                Ok(turn) => TurnState::Alone { _turn: turn },
                Err(_elapsed) => TurnState::Over,
            }
        } else {
            TurnState::Beside { _turn: lock.read_owned().await }
        };
    }

    pub async fn end(&self) {
        *self.state.lock().await = TurnState::Over;
    }

    pub fn count_conflict(&self, plugin: &str) {
        let operation = self.place.and_then(place_name);
        collisions::count(plugin, operation.as_deref().unwrap_or(BACKGROUND_TASK));
    }

    pub fn note_job(&self, has_conflict: bool) {
        self.turns.has_job_collided.store(has_conflict, Relaxed);
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
        let turns = Arc::<WriteTurns>::default();
        let (one, other, third) = (turns.nth(1), turns.nth(2), turns.nth(3));
        assert!(is_ready(one.begin()) && is_ready(other.begin()), "writes run at the same time");
        assert!(!is_ready(third.begin()), "it waits for those that run");
        one.end().await;
        other.end().await;
        assert!(is_ready(third.begin()));
        let later = turns.nth(1);
        assert!(!is_ready(later.begin()), "it is alone");
        third.end().await;
        assert!(is_ready(later.begin()));
    }

    #[tokio::test]
    async fn one_that_hangs_holds_up_nobody_for_long() {
        let turns = Arc::<WriteTurns>::default();
        let hanging = turns.nth(1);
        hanging.begin().await;
        turns.nth(3).begin().await;
        assert!(is_ready(turns.nth(1).begin()), "nobody waits to be alone any more");
    }

    #[tokio::test]
    async fn a_turn_is_waited_for_once() {
        let turns = Arc::<WriteTurns>::default();
        let alone = turns.nth(9);
        alone.begin().await;
        assert!(is_ready(alone.begin()), "it has its turn");
        alone.end().await;
        assert!(is_ready(alone.begin()), "it is over");
        assert!(is_ready(turns.nth(1).begin()));
    }

    #[tokio::test]
    async fn a_job_that_collided_runs_alone_the_next_time() {
        let turns = Arc::<WriteTurns>::default();
        let other = turns.nth(1);
        other.begin().await;
        turns.of_job().note_job(true);
        assert!(!is_ready(turns.of_job().begin()));
        turns.of_job().note_job(false);
        assert!(is_ready(turns.of_job().begin()));
    }
}
