//! The caller's end of a transaction on SQLite.

use super::{
    member::{Answer, Ask, Ending, Member, Message},
    queue::Queue,
    reader::{CancelOnDrop, refused},
    watch::Cancelled,
    writer::Job,
};
use crate::storage::{StorageError, Version, check::Admitted};
use parking_lot::Mutex;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
    mpsc,
};
use tokio::sync::oneshot;

pub struct Conversation {
    writer: Arc<Queue<Job>>,
    /// Of the plugin whose tables it may write.
    version: Option<Version>,
    opened: AtomicBool,
    phase: Mutex<Phase>,
}

enum Phase {
    /// Nothing was sent yet; the writer does not know about it.
    Fresh,
    /// Dropping the sender rolls the transaction back.
    Open(mpsc::Sender<Message>, Ending),
    Over(&'static str),
}

impl Conversation {
    pub fn new(writer: Arc<Queue<Job>>, version: Option<Version>) -> Self {
        Self { writer, version, opened: AtomicBool::new(false), phase: Mutex::new(Phase::Fresh) }
    }

    pub fn is_opened(&self) -> bool {
        self.opened.load(Relaxed)
    }

    pub async fn run(&self, statements: Vec<Admitted>) -> Answer {
        let answer = self.ask(|ask| Message::Run(statements, ask)).await;
        if answer.is_err() {
            self.end("a statement failed");
        }
        answer
    }

    pub async fn commit(&self, last: Vec<(Admitted, bool)>) -> Answer {
        let answer = self.ask(|ask| Message::Commit(last, ask)).await;
        self.end(match &answer {
            Ok(_) => "it was committed",
            Err(_) => "its commit failed",
        });
        answer
    }

    pub async fn rollback(&self) {
        let is_open = matches!(*self.phase.lock(), Phase::Open(..));
        if is_open {
            let _ = self.ask(Message::Rollback).await;
        }
        self.end("it was rolled back");
    }

    /// Ends it from this side; an open transaction rolls back.
    pub fn end(&self, reason: &'static str) {
        let mut phase = self.phase.lock();
        if !matches!(*phase, Phase::Over(_)) {
            *phase = Phase::Over(reason);
        }
    }

    async fn ask(&self, message: impl FnOnce(Ask) -> Message) -> Answer {
        let (reply, answer) = oneshot::channel();
        let cancelled = Cancelled::default();
        let ask = Ask { reply, cancelled: cancelled.clone() };
        let ending = self.send(message(ask))?;
        let mut abandoned = EndOnDrop { conversation: Some(self), _cancel: CancelOnDrop(cancelled) };
        let answer = answer.await;
        abandoned.conversation = None;
        answer.unwrap_or_else(|_| Err(over(&ending)))
    }

    fn send(&self, message: Message) -> Result<Ending, StorageError> {
        let mut phase = self.phase.lock();
        match &*phase {
            Phase::Over(reason) => Err(StorageError::closed(reason)),
            Phase::Open(sender, ending) => match sender.send(message) {
                Ok(()) => Ok(ending.clone()),
                Err(_) => Err(over(ending)),
            },
            Phase::Fresh => {
                let (sender, inbox) = mpsc::channel();
                let ending = Ending::default();
                let member = Member { inbox, ending: ending.clone(), version: self.version.clone() };
                // The first message is in the inbox before the writer can look into it.
                let _ = sender.send(message);
                if let Err(why) = self.writer.push(Job::Member(member)) {
                    *phase = Phase::Over("it could not begin");
                    return Err(refused(why));
                }
                self.opened.store(true, Relaxed);
                *phase = Phase::Open(sender, ending.clone());
                Ok(ending)
            }
        }
    }
}

/// The caller dropped its future: what it had begun is rolled back.
struct EndOnDrop<'c> {
    conversation: Option<&'c Conversation>,
    _cancel: CancelOnDrop,
}

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(conversation) = self.conversation {
            conversation.end("a call was given up");
        }
    }
}

fn over(ending: &Ending) -> StorageError {
    StorageError::closed(ending.get().copied().unwrap_or("it was rolled back"))
}
