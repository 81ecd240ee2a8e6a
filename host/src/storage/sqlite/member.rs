//! One transaction's conversation with the writer thread, inside a savepoint of the group's transaction.
//!
//! The rule: whatever ends it early (a failed statement, a caller that left, a time limit) leaves no trace, and a member
//! that keeps the writer waiting is cut off.

use super::{connection::Guarded, execute::execute, watch::Cancelled};
use crate::storage::{StorageError, Version, check::Admitted, limits::Room};
use plugin_api::abi::Outcome;
use std::{
    cell::Cell,
    sync::{
        Arc, OnceLock,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

pub type Answer = Result<Vec<Outcome>, StorageError>;

/// A caller's question and its way back.
pub struct Ask {
    pub reply: oneshot::Sender<Answer>,
    pub cancelled: Cancelled,
}

pub enum Message {
    Run(Vec<Admitted>, Ask),
    /// The last statements, each with whether it must give a row.
    Commit(Vec<(Admitted, bool)>, Ask),
    Rollback(Ask),
}

/// Why the writer ended the conversation, for calls that come later.
pub type Ending = Arc<OnceLock<&'static str>>;

pub struct Member {
    pub inbox: Receiver<Message>,
    pub ending: Ending,
    /// Of the plugin whose tables it may write.
    pub version: Option<Version>,
}

/// A member whose work waits for the group's commit.
pub struct Done {
    reply: oneshot::Sender<Answer>,
    outcomes: Vec<Outcome>,
    /// Of the plugin whose tables it wrote.
    changed: Option<Version>,
}

impl Done {
    pub fn changed(&self) -> Option<&Version> {
        self.changed.as_ref()
    }

    pub fn acknowledge(self) {
        // A caller that left does not hear it; the work stays, as with any commit whose answer gets lost.
        let _ = self.reply.send(Ok(self.outcomes));
    }

    pub fn fail(self, error: StorageError) {
        let _ = self.reply.send(Err(error));
    }
}

/// How a conversation ended.
pub enum Served {
    Done(Done),
    /// Rolled back to the savepoint: as if it had never been.
    Undone,
    /// SQLite rolled back the whole group's transaction, or may have.
    GroupLost,
}

/// What one message led to.
enum Turn {
    Next,
    End(Served),
}

#[derive(Clone, Copy)]
pub struct MemberLimits {
    pub statement: Duration,
    pub total: Duration,
    pub idle: Duration,
}

/// Serves the member to its end.
pub fn serve(guarded: &Guarded, member: &Member, limits: MemberLimits) -> Served {
    if guarded.connection.execute_batch("SAVEPOINT member").is_err() {
        member.refuse(&lost());
        return Served::GroupLost;
    }
    let deadline = Instant::now() + limits.total;
    let session = Session { guarded, statement: limits.statement, deadline, wrote: Cell::new(false) };
    loop {
        match member.inbox.recv_timeout(session.patience(limits.idle)) {
            Ok(message) => match session.turn(message) {
                Turn::Next => {}
                Turn::End(Served::Done(mut done)) => {
                    done.changed = member.version.clone().filter(|_| session.wrote.get());
                    return Served::Done(done);
                }
                Turn::End(served) => return served,
            },
            Err(RecvTimeoutError::Disconnected) => return session.undo(),
            Err(RecvTimeoutError::Timeout) => {
                let _ = member.ending.set("it kept the database waiting for too long");
                tracing::warn!("a transaction was rolled back: it kept the writer waiting");
                return session.undo();
            }
        }
    }
}

struct Session<'g> {
    guarded: &'g Guarded,
    statement: Duration,
    deadline: Instant,
    wrote: Cell<bool>,
}

impl Session<'_> {
    fn patience(&self, idle: Duration) -> Duration {
        idle.min(self.deadline.saturating_duration_since(Instant::now()))
    }

    fn turn(&self, message: Message) -> Turn {
        match message {
            Message::Run(statements, ask) => self.run(&statements, ask),
            Message::Commit(last, ask) => Turn::End(self.commit(&last, ask)),
            Message::Rollback(ask) => {
                let served = self.undo();
                let _ = ask.reply.send(Ok(Vec::new()));
                Turn::End(served)
            }
        }
    }

    fn run(&self, statements: &[Admitted], ask: Ask) -> Turn {
        let mut room = Room::new();
        let run = |admitted| self.execute(admitted, &ask.cancelled, &mut room);
        let answer: Answer = statements.iter().map(run).collect();
        match answer {
            Ok(outcomes) => match ask.reply.send(Ok(outcomes)) {
                Ok(()) => Turn::Next,
                // Nobody knows what was done: the caller has left.
                Err(_) => Turn::End(self.undo()),
            },
            Err(error) => Turn::End(self.fail(ask, error)),
        }
    }

    fn commit(&self, last: &[(Admitted, bool)], ask: Ask) -> Served {
        let mut room = Room::new();
        let run = |(index, (admitted, needs_row)): (usize, &(Admitted, bool))| {
            let outcome = self.execute(admitted, &ask.cancelled, &mut room)?;
            if *needs_row && outcome.rows.is_empty() {
                return Err(StorageError::Rejected(index));
            }
            Ok(outcome)
        };
        let answer: Answer = last.iter().enumerate().map(run).collect();
        match answer {
            Err(error) => self.fail(ask, error),
            Ok(_) if ask.reply.is_closed() => self.undo(),
            Ok(outcomes) => match self.guarded.connection.execute_batch("RELEASE member") {
                Ok(()) => Served::Done(Done { reply: ask.reply, outcomes, changed: None }),
                Err(_) => {
                    let _ = ask.reply.send(Err(lost()));
                    Served::GroupLost
                }
            },
        }
    }

    fn execute(&self, admitted: &Admitted, cancelled: &Cancelled, room: &mut Room) -> Result<Outcome, StorageError> {
        if !admitted.plan.shape.reads_only() {
            self.wrote.set(true);
        }
        let deadline = self.deadline.min(Instant::now() + self.statement);
        execute(self.guarded, admitted, deadline, cancelled, room)
    }

    /// Rolls back before it answers, so that the caller finds the old state.
    fn fail(&self, ask: Ask, error: StorageError) -> Served {
        let served = self.undo();
        let _ = ask.reply.send(Err(error));
        served
    }

    fn undo(&self) -> Served {
        // After some errors (disk full, I/O, a stopped write) SQLite has rolled back everything by itself.
        let undone = !self.guarded.connection.is_autocommit()
            && self.guarded.connection.execute_batch("ROLLBACK TO member; RELEASE member").is_ok();
        if undone { Served::Undone } else { Served::GroupLost }
    }
}

/// For members whose finished work went down with the group.
pub fn lost() -> StorageError {
    StorageError::Unavailable("the commit failed and nothing was written".into())
}

impl Member {
    /// Answers everything in the inbox with the error; nothing was begun.
    pub fn refuse(&self, error: &StorageError) {
        while let Ok(message) = self.inbox.try_recv() {
            let (Message::Run(_, ask) | Message::Commit(_, ask) | Message::Rollback(ask)) = message;
            let _ = ask.reply.send(Err(error.clone()));
        }
    }
}
