//! The one thread that writes: many transactions, one commit, one sync of the disk.
//!
//! The rule that must not break: **a transaction is acknowledged only after the COMMIT of its group succeeded, and a group
//! that SQLite rolled back, in whole and by itself, fails for every one of its members.**

use super::{
    connection::Guarded,
    explain::explain,
    member::{self, Done, Member, MemberLimits, Served},
    queue::Queue,
};
use crate::storage::StorageError;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// How long a group stays open for newcomers.
const GROUP_TIME_MAX: Duration = Duration::from_millis(5);

pub enum Job {
    Member(Member),
    /// Work that needs the connection for itself, for example migrations; runs between groups.
    Task(Box<dyn FnOnce(&Guarded) + Send>),
}

/// Opens the connection again when its state can no longer be trusted.
pub type Reopen = Box<dyn Fn() -> Result<Guarded, StorageError> + Send>;

pub struct Writer {
    pub guarded: Guarded,
    pub queue: Arc<Queue<Job>>,
    pub limits: MemberLimits,
    pub group_max: usize,
    pub reopen: Reopen,
}

impl Writer {
    /// Serves until the queue is closed and empty.
    pub fn run(mut self) {
        while let Some(job) = self.queue.pop() {
            match job {
                Job::Task(task) => task(&self.guarded),
                Job::Member(member) => self.group(member),
            }
            self.ensure_idle();
        }
        let _ = self.guarded.connection.execute_batch("PRAGMA optimize");
    }

    fn group(&self, first: Member) {
        if let Err(error) = self.guarded.connection.execute_batch("BEGIN IMMEDIATE") {
            first.refuse(&explain(&error));
            return;
        }
        let started = Instant::now();
        let mut done: Vec<Done> = Vec::new();
        let mut next = Some(first);
        let mut served_count = 0;
        while let Some(member) = next {
            match member::serve(&self.guarded, &member, self.limits) {
                Served::Done(finished) => done.push(finished),
                Served::Undone => {}
                Served::GroupLost => return fail_all(done),
            }
            served_count += 1;
            let open = served_count < self.group_max && started.elapsed() < GROUP_TIME_MAX;
            next = if open { self.next_member() } else { None };
        }
        self.finish(done);
    }

    fn next_member(&self) -> Option<Member> {
        match self.queue.pop_if(|job| matches!(job, Job::Member(_))) {
            Some(Job::Member(member)) => Some(member),
            _ => None,
        }
    }

    fn finish(&self, done: Vec<Done>) {
        if done.is_empty() {
            return; // Nothing to keep: `ensure_idle` rolls back.
        }
        // SQLite may have ended the transaction behind our back; then COMMIT itself would fail, but this says why.
        if self.guarded.connection.is_autocommit() {
            return fail_all(done);
        }
        match self.guarded.connection.execute_batch("COMMIT") {
            Ok(()) => done.into_iter().for_each(Done::acknowledge),
            Err(error) => {
                let reason = explain(&error);
                tracing::error!(error = %error, members = done.len(), "a group's commit failed");
                let answer = match reason {
                    StorageError::Unavailable(_) => reason,
                    _ => member::lost(),
                };
                self.roll_back();
                done.into_iter().for_each(|member| member.fail(answer.clone()));
            }
        }
    }

    fn roll_back(&self) {
        if !self.guarded.connection.is_autocommit() {
            let _ = self.guarded.connection.execute_batch("ROLLBACK");
        }
    }

    /// Between groups there is no open transaction; a connection that cannot get rid of one is replaced.
    fn ensure_idle(&mut self) {
        self.roll_back();
        if self.guarded.connection.is_autocommit() {
            return;
        }
        match (self.reopen)() {
            Ok(guarded) => self.guarded = guarded,
            Err(error) => {
                tracing::error!(error = %error, "the writer cannot open the database again")
            }
        }
    }
}

fn fail_all(done: Vec<Done>) {
    if !done.is_empty() {
        tracing::error!(members = done.len(), "SQLite rolled back a group by itself");
    }
    done.into_iter().for_each(|member| member.fail(member::lost()));
}
