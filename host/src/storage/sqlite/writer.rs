//! The one thread that writes: many transactions, one commit, one sync of the disk.
//!
//! The rule that must not break: **a transaction is acknowledged only after the COMMIT of its group succeeded, and a group
//! that SQLite rolled back, in whole and by itself, fails for every one of its members.**

use super::{
    connection::Guarded,
    explain::explain,
    member::{self, Done, Member, MemberLimits, Served},
    queue::{Popped, Queue},
};
use crate::storage::{StorageError, Version, Versions};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// How soon a commit of another process is noticed, at the latest.
const LOOK_FOR_OTHERS_EVERY: Duration = Duration::from_secs(1);
pub const NEVER_LOOKED: i64 = -1;
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
    pub versions: Arc<Versions>,
    /// Its connection's count of commits by other connections, as it was last seen.
    pub foreign_commits: i64,
    pub limits: MemberLimits,
    pub group_max: usize,
    pub reopen: Reopen,
}

impl Writer {
    /// Serves until the queue is closed and empty.
    pub fn run(mut self) {
        loop {
            let popped = self.queue.pop_within(LOOK_FOR_OTHERS_EVERY);
            self.look_for_others();
            match popped {
                Popped::Job(Job::Task(task)) => task(&self.guarded),
                Popped::Job(Job::Member(member)) => self.group(member),
                Popped::Nothing => continue,
                Popped::Closed => break,
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
        let under_way = self.versions.commit(self.changed(&done));
        let committed = self.guarded.connection.execute_batch("COMMIT");
        drop(under_way);
        match committed {
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

    /// Every transaction may end with rows of the gateway's own.
    fn changed(&self, done: &[Done]) -> Vec<Version> {
        let plugins = done.iter().filter_map(Done::changed).cloned();
        plugins.chain([self.versions.of("host")]).collect()
    }

    /// Another process that writes the file (a command, an operator's tool) is none of ours, but what it changed counts.
    fn look_for_others(&mut self) {
        let count = self.data_version();
        // What cannot be read now is looked at again before the next group.
        if let Ok(count) = count
            && count != self.foreign_commits
        {
            self.foreign_commits = count;
            drop(self.versions.commit(vec![self.versions.everything()]));
        }
    }

    fn data_version(&self) -> rusqlite::Result<i64> {
        self.guarded.connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
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
            // The count is of the connection: another one makes `look_for_others` notice a change.
            Ok(guarded) => (self.guarded, self.foreign_commits) = (guarded, NEVER_LOOKED),
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
