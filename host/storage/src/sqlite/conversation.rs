//! The caller's end of a transaction on SQLite.

use super::{
    desk::{Desk, Place, Seat},
    member::{Answer, Ask, Message},
    reader::{CancelOnDrop, refused, stopped},
    watch::Cancelled,
    work::{Opened, Work},
};
use crate::check::Admitted;
use crate::scope::Triggers;
use crate::{StorageError, Version};
use parking_lot::Mutex;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};
use tokio::sync::oneshot;

/// More statements than this in one call run on the writer thread, however short each of them is.
const INLINE_STATEMENTS_MAX: usize = 16;

pub struct Conversation {
    desk: Arc<Desk>,
    seat: Arc<Seat>,
    opened: AtomicBool,
    /// One call at a time.
    calls: tokio::sync::Mutex<()>,
    phase: Mutex<Phase>,
    /// Who works on the calling thread cannot leave meanwhile.
    never: Cancelled,
}

#[derive(Clone, Copy)]
enum Phase {
    /// Nothing was sent yet; nobody knows about it.
    Fresh,
    /// It has the turn, or had it until the writer thread ended it.
    Open,
    Over(&'static str),
}

impl Conversation {
    pub fn new(desk: Arc<Desk>, version: Option<Version>, triggers: Triggers) -> Self {
        Self {
            desk,
            seat: Seat::new(version, triggers),
            opened: AtomicBool::new(false),
            calls: tokio::sync::Mutex::const_new(()),
            phase: Mutex::new(Phase::Fresh),
            never: Cancelled::default(),
        }
    }

    pub fn is_opened(&self) -> bool {
        self.opened.load(Relaxed)
    }

    pub async fn run(&self, statements: Vec<Admitted>) -> Answer {
        let mut abandoned = EndOnDrop { conversation: Some(self) };
        let _call = self.calls.lock().await;
        let answer = self.run_now(statements).await;
        abandoned.conversation = None;
        if answer.is_err() {
            self.end("a statement failed");
        }
        answer
    }

    async fn run_now(&self, statements: Vec<Admitted>) -> Answer {
        let deadline = self.take_turn().await?;
        if statements.len() <= INLINE_STATEMENTS_MAX && statements.iter().all(|one| one.plan.pace.is_short()) {
            let run = |work: &mut Work| work.run(&statements, &self.never);
            match self.inline(deadline, run) {
                Some(Ok(outcomes)) => {
                    self.desk.end_work(&self.seat);
                    return Ok(outcomes);
                }
                Some(Err(error)) => return Err(self.undone(error).await),
                None => {}
            }
        }
        self.delegate(deadline, Message::Run(statements)).await
    }

    pub async fn commit(&self, last: Vec<(Admitted, bool)>) -> Answer {
        let mut abandoned = EndOnDrop { conversation: Some(self) };
        let _call = self.calls.lock().await;
        let answer = self.commit_now(last).await;
        abandoned.conversation = None;
        self.end(match &answer {
            Ok(_) => "it was committed",
            Err(_) => "its commit failed",
        });
        answer
    }

    async fn commit_now(&self, last: Vec<(Admitted, bool)>) -> Answer {
        let deadline = self.take_turn().await?;
        if last.len() > INLINE_STATEMENTS_MAX || !last.iter().all(|(one, _)| one.plan.pace.is_short()) {
            return self.delegate(deadline, Message::Commit(last)).await;
        }
        let (reply, answer) = oneshot::channel();
        let finish = |work: &mut Work| {
            let version = self.seat.version.as_ref();
            work.finish(&last, &self.never, version, reply).map(|()| work.group()).map_err(|(error, _)| error)
        };
        let group = match self.inline(deadline, finish) {
            Some(Ok(group)) => group,
            Some(Err(error)) => return Err(self.undone(error).await),
            None => return self.delegate(deadline, Message::Commit(last)).await,
        };
        if let Some(group) = self.desk.finish(&self.seat, group) {
            self.lead(group).await;
        }
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }

    /// Asks for the group's commit when nobody else is ready to write: all who are share it.
    async fn lead(&self, mut group: Opened) {
        let _wanted = WantCommit { desk: &self.desk, group: group.number };
        loop {
            tokio::task::yield_now().await;
            match self.desk.grown(group) {
                Some(grown) => group = grown,
                None => return,
            }
        }
    }

    pub async fn rollback(&self) {
        let _call = self.calls.lock().await;
        if matches!(*self.phase.lock(), Phase::Open) {
            let (done, undone) = oneshot::channel();
            if self.desk.undo(&self.seat, Some(done)) {
                let _ = undone.await;
            }
        }
        self.end("it was rolled back");
    }

    /// Ends it from this side; what was done is rolled back.
    pub fn end(&self, reason: &'static str) {
        let mut phase = self.phase.lock();
        match *phase {
            Phase::Over(_) => return,
            Phase::Open => self.desk.leave(&self.seat),
            Phase::Fresh => {}
        }
        *phase = Phase::Over(reason);
    }

    /// Waits for the turn, at the first call; answers the time by which all must be done.
    async fn take_turn(&self) -> Result<Instant, StorageError> {
        let place = {
            let mut phase = self.phase.lock();
            match *phase {
                Phase::Over(reason) => return Err(StorageError::closed(reason)),
                Phase::Open => None,
                Phase::Fresh => match self.desk.queue(&self.seat) {
                    Ok(place) => {
                        *phase = Phase::Open;
                        self.opened.store(true, Relaxed);
                        Some(place)
                    }
                    Err(why) => {
                        *phase = Phase::Over("it could not begin");
                        return Err(refused(why));
                    }
                },
            }
        };
        if let Some(Place::Later(turn)) = place {
            turn.await.map_err(|_| stopped())?;
        }
        self.desk.begin_work(&self.seat).ok_or_else(|| self.over())
    }

    /// Works on the calling thread; `None` when the database cannot be had at once.
    fn inline<T>(&self, deadline: Instant, act: impl FnOnce(&mut Work) -> T) -> Option<T> {
        let _panicked = GiveBackOnPanic(self);
        let mut work = self.desk.work();
        work.open(deadline, self.seat.triggers, false).ok()?;
        Some(act(&mut work))
    }

    async fn delegate(&self, deadline: Instant, message: Message) -> Answer {
        let (reply, answer) = oneshot::channel();
        let cancelled = Cancelled::default();
        let _cancel = CancelOnDrop(cancelled.clone());
        self.desk.delegate(&self.seat, deadline, message, Ask { reply, cancelled });
        answer.await.unwrap_or_else(|_| Err(self.over()))
    }

    /// Rolls back before the error is told, so that the caller finds the old state.
    async fn undone(&self, error: StorageError) -> StorageError {
        let (done, undone) = oneshot::channel();
        if self.desk.undo(&self.seat, Some(done)) {
            let _ = undone.await;
        }
        error
    }

    fn over(&self) -> StorageError {
        StorageError::closed(self.seat.ending.get().copied().unwrap_or("it was rolled back"))
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.end("it was dropped");
    }
}

/// The caller dropped its future: what it had begun is rolled back.
struct EndOnDrop<'c> {
    conversation: Option<&'c Conversation>,
}

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(conversation) = self.conversation {
            conversation.end("a call was given up");
        }
    }
}

/// A turn that is lost in a panic would end all writing: it is given back, and what was done is undone.
struct GiveBackOnPanic<'c>(&'c Conversation);

impl Drop for GiveBackOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.desk.end_work(&self.0.seat);
        }
    }
}

/// Whoever waits for a commit asks for it, also when it leaves: others wait for the same one.
struct WantCommit<'d> {
    desk: &'d Desk,
    group: u64,
}

impl Drop for WantCommit<'_> {
    fn drop(&mut self) {
        self.desk.want_commit(self.group);
    }
}
