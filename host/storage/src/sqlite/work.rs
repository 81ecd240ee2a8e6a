//! The connection that writes, the group of transactions that is open on it, and the savepoint of whose turn it is.
//!
//! The rule: whatever ends a transaction early (a failed statement, a caller that left, a time limit) leaves no trace, and
//! when SQLite rolled back more than that one by itself, all of its group hear of it.

use super::{
    connection::{BUSY_TIMEOUT, Guarded},
    execute::Call,
    explain::explain,
    log,
    member::{Answer, Done, lost},
    watch::Cancelled,
};
use crate::check::Admitted;
use crate::scope::Triggers;
use crate::{StorageError, Version, Versions};
use plugin_api::abi::Outcome;
use rusqlite::config::DbConfig;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

const NEVER_LOOKED: i64 = -1;

/// Opens the connection again when its state can no longer be trusted.
pub type Reopen = Box<dyn Fn() -> Result<Guarded, StorageError> + Send>;

pub struct Work {
    pub guarded: Guarded,
    versions: Arc<Versions>,
    /// The connection's count of commits by other connections, as it was last seen.
    foreign_commits: i64,
    statement_timeout: Duration,
    reopen: Reopen,
    group: Option<Group>,
    groups: u64,
    session: Option<Session>,
}

/// Transactions that share a commit.
struct Group {
    opened: Opened,
    done: Vec<Done>,
}

/// What is known of an open group.
#[derive(Clone, Copy, Debug)]
pub struct Opened {
    pub number: u64,
    pub since: Instant,
    /// Transactions that had their turn.
    pub members: usize,
}

/// The transaction whose turn it is.
struct Session {
    /// The first of a group needs none: to take it back is to take back the group. That spares it SQLite's second journal, in
    /// which every statement of a large transaction would look for the end of what the ones before wrote.
    has_savepoint: bool,
    deadline: Instant,
    wrote: bool,
}

/// A session at work.
struct Running<'w> {
    session: &'w mut Session,
    call: Call<'w>,
    statement_timeout: Duration,
    /// When the statement before ended.
    since: Instant,
}

impl Running<'_> {
    fn execute(&mut self, admitted: &Admitted) -> Result<Outcome, StorageError> {
        self.session.wrote |= !admitted.plan.shape.reads_only();
        let deadline = self.session.deadline.min(self.since + self.statement_timeout);
        let outcome = self.call.execute(admitted, deadline);
        let now = Instant::now();
        admitted.plan.pace.note(now - self.since);
        self.since = now;
        outcome
    }
}

impl Work {
    pub fn new(guarded: Guarded, versions: Arc<Versions>, statement_timeout: Duration, reopen: Reopen) -> Self {
        let mut work = Self {
            guarded,
            versions,
            foreign_commits: NEVER_LOOKED,
            statement_timeout,
            reopen,
            group: None,
            groups: 0,
            session: None,
        };
        // What is there from the beginning is no change.
        work.look_for_others();
        work
    }

    pub fn group(&self) -> Option<Opened> {
        self.group.as_ref().map(|group| group.opened)
    }

    /// Opens group and savepoint where they are not open. Without patience it does not wait for another process.
    pub fn open(&mut self, deadline: Instant, triggers: Triggers, is_patient: bool) -> Result<(), StorageError> {
        if self.session.is_some() {
            return Ok(());
        }
        if self.group.is_none() {
            self.open_group(is_patient)?;
        }
        self.set_triggers(triggers).map_err(|error| explain(&error))?;
        let has_savepoint = self.group.as_ref().is_some_and(|group| !group.done.is_empty());
        if has_savepoint {
            self.step("SAVEPOINT member").map_err(|_| lost())?;
        }
        self.session = Some(Session { has_savepoint, deadline, wrote: false });
        Ok(())
    }

    fn open_group(&mut self, is_patient: bool) -> Result<(), StorageError> {
        self.look_for_others();
        let begun = if is_patient { self.step("BEGIN IMMEDIATE") } else { self.begin_at_once() };
        begun.map_err(|error| explain(&error))?;
        self.groups += 1;
        let opened = Opened { number: self.groups, since: Instant::now(), members: 0 };
        self.group = Some(Group { opened, done: Vec::new() });
        Ok(())
    }

    fn begin_at_once(&self) -> rusqlite::Result<()> {
        self.guarded.connection.busy_timeout(Duration::ZERO)?;
        let begun = self.step("BEGIN IMMEDIATE");
        self.guarded.connection.busy_timeout(BUSY_TIMEOUT)?;
        begun
    }

    pub fn run(&mut self, statements: &[Admitted], cancelled: &Cancelled) -> Answer {
        let mut running = self.running(cancelled)?;
        statements.iter().map(|admitted| running.execute(admitted)).collect()
    }

    fn running<'w>(&'w mut self, cancelled: &'w Cancelled) -> Result<Running<'w>, StorageError> {
        let session = self.session.as_mut().ok_or_else(lost)?;
        let call = Call::new(&self.guarded, cancelled);
        Ok(Running { session, call, statement_timeout: self.statement_timeout, since: Instant::now() })
    }

    /// The last statements; then the work waits for the group's commit, unless the caller has left.
    pub fn finish(
        &mut self,
        last: &[(Admitted, bool)],
        cancelled: &Cancelled,
        version: Option<&Version>,
        reply: oneshot::Sender<Answer>,
    ) -> Result<(), (StorageError, oneshot::Sender<Answer>)> {
        let outcomes = match self.finals(last, cancelled) {
            Ok(outcomes) if !reply.is_closed() => outcomes,
            Ok(_) => return Err((StorageError::closed("its caller left"), reply)),
            Err(error) => return Err((error, reply)),
        };
        let has_savepoint = self.session.as_ref().is_some_and(|session| session.has_savepoint);
        // After some errors SQLite has ended the transaction by itself.
        if self.guarded.connection.is_autocommit() || has_savepoint && self.step("RELEASE member").is_err() {
            return Err((lost(), reply));
        }
        let wrote = self.session.take().is_some_and(|session| session.wrote);
        let changed = version.filter(|_| wrote).cloned();
        let Some(group) = &mut self.group else { return Err((lost(), reply)) };
        group.opened.members += 1;
        group.done.push(Done { reply, outcomes, changed });
        Ok(())
    }

    fn finals(&mut self, last: &[(Admitted, bool)], cancelled: &Cancelled) -> Answer {
        let mut running = self.running(cancelled)?;
        let run = |(index, (admitted, needs_row)): (usize, &(Admitted, bool))| {
            let outcome = running.execute(admitted)?;
            if *needs_row && outcome.rows.is_empty() {
                return Err(StorageError::Rejected(index));
            }
            Ok(outcome)
        };
        last.iter().enumerate().map(run).collect()
    }

    /// Takes back what the transaction did.
    pub fn undo(&mut self) {
        if self.session.take().is_some_and(|session| session.has_savepoint) {
            // After some errors (disk full, I/O, a stopped write) SQLite has rolled back everything by itself.
            let connection = &self.guarded.connection;
            let is_undone =
                !connection.is_autocommit() && connection.execute_batch("ROLLBACK TO member; RELEASE member").is_ok();
            if !is_undone {
                self.lose_group();
            }
        } else if self.group.is_some() && self.guarded.connection.is_autocommit() {
            self.lose_group();
        }
        if let Some(group) = &mut self.group {
            group.opened.members += 1;
        }
        if self.group.as_ref().is_some_and(|group| group.done.is_empty()) {
            // Nothing to keep.
            self.group = None;
        }
        if self.group.is_none() {
            self.ensure_idle();
        }
    }

    /// The connection for work without a session, such as migrations.
    pub fn with_triggers(&self) -> Result<&Guarded, StorageError> {
        self.set_triggers(Triggers::On).map_err(|error| explain(&error))?;
        Ok(&self.guarded)
    }

    /// They stay as they are until somebody wants them otherwise: SQLite compiles its statements again after a change.
    fn set_triggers(&self, wanted: Triggers) -> rusqlite::Result<()> {
        let (connection, switch) = (&self.guarded.connection, DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER);
        let wanted = wanted == Triggers::On;
        if connection.db_config(switch)? != wanted {
            connection.set_db_config(switch, wanted)?;
        }
        Ok(())
    }

    fn lose_group(&mut self) {
        if let Some(group) = self.group.take() {
            fail_all(group.done);
        }
    }

    /// Commits the group and answers its members.
    pub fn commit_group(&mut self) {
        let Some(Group { done, .. }) = self.group.take() else { return };
        if done.is_empty() {
            return self.ensure_idle();
        }
        // SQLite may have ended the transaction behind our back; then COMMIT itself would fail, but this says why.
        if self.guarded.connection.is_autocommit() {
            return fail_all(done);
        }
        let under_way = self.versions.commit(self.changed(&done));
        let committed = self.step("COMMIT");
        drop(under_way);
        match committed {
            Ok(()) => done.into_iter().for_each(Done::acknowledge),
            Err(error) => {
                let reason = explain(&error);
                tracing::error!(error = %error, members = done.len(), "a group's commit failed");
                let answer = match reason {
                    StorageError::Unavailable(_) => reason,
                    _ => lost(),
                };
                self.roll_back();
                done.into_iter().for_each(|member| member.fail(answer.clone()));
            }
        }
        self.ensure_idle();
        log::fold_when_long(&self.guarded.connection);
    }

    /// Every transaction may end with rows of the gateway's own.
    fn changed(&self, done: &[Done]) -> Vec<Version> {
        let mut changed: Vec<Version> = vec![self.versions.of("host")];
        for version in done.iter().filter_map(|member| member.changed.as_ref()) {
            if !changed.iter().any(|known| known.is(version)) {
                changed.push(version.clone());
            }
        }
        changed
    }

    /// Another process that writes the file (a command, an operator's tool) is none of ours, but what it changed counts.
    pub fn look_for_others(&mut self) {
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

    /// One of the statements that every write needs; compiled once.
    fn step(&self, sql: &str) -> rusqlite::Result<()> {
        self.guarded.connection.prepare_cached(sql)?.execute([]).map(drop)
    }

    fn roll_back(&self) {
        if !self.guarded.connection.is_autocommit() {
            let _ = self.guarded.connection.execute_batch("ROLLBACK");
        }
    }

    /// Between groups there is no open transaction; a connection that cannot get rid of one is replaced.
    pub fn ensure_idle(&mut self) {
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
    done.into_iter().for_each(|member| member.fail(lost()));
}
