//! What the proxy makes of one connection: it follows the client's transactions and does to them what the test asks for.
//!
//! The rule: errors that the client gets are the server's own. For a conflict the server is made to fail, so that its
//! transaction ends as it does after a real one.

use super::frames::{BIND, BIND_COMPLETE, COMMAND_COMPLETE, ERROR_RESPONSE, Frame, PARSE, PARSE_COMPLETE, QUERY};
use anyhow::Result;
use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// What happens to one transaction. Statements and answers are counted from 1, which is the BEGIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection breaks before the server gets this statement.
    BeforeStatement(usize),
    /// The server has executed it; the connection breaks before the client gets this answer.
    BeforeAnswer(usize),
    /// The same at the answer to COMMIT: the server has committed.
    LostCommit,
    /// In the place of this statement, or behind a BEGIN, the server fails with a serialization failure.
    Conflict(usize),
}

/// A transaction with the marker in it, as far as it came.
#[derive(Clone, Debug, Default)]
pub struct Transaction {
    pub statements: Vec<String>,
    /// The server's tags, such as `INSERT 0 1`.
    pub answers: Vec<String>,
    /// The number of the statement with which the marker came: to those before it nothing can happen.
    pub marked_at: usize,
    /// Whether the fault that was meant for it happened.
    pub was_hit: bool,
}

/// What to look for, and what was seen.
#[derive(Default)]
pub struct Watch {
    /// A text in a statement or in a parameter.
    pub marker: String,
    /// One for each of the next transactions with the marker.
    pub faults: VecDeque<Fault>,
    /// PL/pgSQL that runs in a transaction before it fails.
    pub before_conflict: String,
    pub transactions: Vec<Transaction>,
    /// By database, how many SERIALIZABLE transactions came to their COMMIT, where every second one fails there.
    pub commits: Option<HashMap<String, u64>>,
}

/// Part of the message of an error that the proxy caused.
const CONFLICT: &str = "a conflict that the proxy made";

/// What to send on.
#[derive(Default)]
pub struct Passage {
    pub bytes: Vec<u8>,
    /// Whether the connection breaks then.
    pub is_cut: bool,
}

pub struct Session {
    watch: Arc<Mutex<Watch>>,
    database: String,
    /// SQL by the name of a prepared statement.
    prepared: HashMap<String, String>,
    open: Option<OpenTransaction>,
    /// How many answers come before the error of an injected conflict that the client did not ask for, until that error comes.
    conflict_answers: Option<usize>,
    /// Answers that may be such ones.
    held: Vec<Frame>,
}

#[derive(Default)]
struct OpenTransaction {
    transaction: Transaction,
    /// Its place in [`Watch::transactions`], once it has the marker.
    place: Option<usize>,
    fault: Option<Fault>,
    is_serializable: bool,
}

impl Session {
    pub fn new(watch: Arc<Mutex<Watch>>, database: String) -> Self {
        Self { watch, database, prepared: HashMap::new(), open: None, conflict_answers: None, held: Vec::new() }
    }

    /// Messages of the client, as many as came at once.
    pub fn pass_requests(&mut self, frames: &[Frame]) -> Result<Passage> {
        let mut passage = Passage::default();
        for (index, frame) in frames.iter().enumerate() {
            if frame.kind() == PARSE {
                self.prepared.insert(frame.text(0), frame.text(1));
            }
            let statement = self.statement(frame);
            if let Some(begin) = statement.as_deref().filter(|sql| is_begin(sql)) {
                let is_serializable = begin.contains("SERIALIZABLE");
                self.open = Some(OpenTransaction { is_serializable, ..OpenTransaction::default() });
            }
            self.look_for_marker(frames.get(index..).unwrap_or_default());
            let fault = statement.as_deref().and_then(|sql| self.count_statement(sql));
            match fault {
                Some(Fault::Conflict(_)) => {
                    let replaces = self.inject_conflict(frame, &mut passage)?;
                    if replaces {
                        continue;
                    }
                }
                Some(_) => {
                    passage.is_cut = true;
                    return Ok(passage);
                }
                None => {}
            }
            passage.bytes.extend_from_slice(frame.bytes());
        }
        Ok(passage)
    }

    /// Messages of the server.
    pub fn pass_answers(&mut self, frames: &[Frame]) -> Passage {
        let mut passage = Passage::default();
        for frame in frames {
            if let Some(own) = self.conflict_answers {
                if [PARSE_COMPLETE, BIND_COMPLETE].contains(&frame.kind()) {
                    self.held.push(frame.clone());
                    continue;
                }
                if frame.kind() == ERROR_RESPONSE && frame.contains(CONFLICT) {
                    self.held.truncate(self.held.len().saturating_sub(own));
                    self.conflict_answers = None;
                }
                for held in self.held.drain(..) {
                    passage.bytes.extend_from_slice(held.bytes());
                }
            }
            if frame.kind() == COMMAND_COMPLETE && self.count_answer(&frame.text(0)) {
                passage.is_cut = true;
                return passage;
            }
            passage.bytes.extend_from_slice(frame.bytes());
        }
        passage
    }

    /// The SQL that a message executes: a simple query, or a prepared statement with parameters.
    fn statement(&self, frame: &Frame) -> Option<String> {
        match frame.kind() {
            QUERY => Some(frame.text(0)),
            BIND => Some(self.prepared.get(&frame.text(1)).cloned().unwrap_or_default()),
            _ => None,
        }
    }

    /// Looks at all messages that came with the present one: a BEGIN has no marker itself.
    fn look_for_marker(&mut self, frames: &[Frame]) {
        if self.open.as_ref().is_none_or(|open| open.place.is_some()) {
            return;
        }
        let mut watch = lock(&self.watch);
        let is_marked = |frame: &Frame| {
            frame.contains(&watch.marker)
                || self.statement(frame).is_some_and(|sql| !watch.marker.is_empty() && sql.contains(&watch.marker))
        };
        if !frames.iter().any(is_marked) {
            return;
        }
        let fault = watch.faults.pop_front();
        if let Some(open) = &mut self.open {
            open.transaction.marked_at = open.transaction.statements.len() + 1;
            open.place = Some(watch.transactions.len());
            open.fault = fault;
            watch.transactions.push(open.transaction.clone());
        }
    }

    /// Counts a statement; returns the fault that it meets.
    fn count_statement(&mut self, sql: &str) -> Option<Fault> {
        let open = self.open.as_mut()?;
        open.transaction.statements.push(sql.to_owned());
        let number = open.transaction.statements.len();
        let fault = open.fault.filter(|fault| match fault {
            Fault::BeforeStatement(at) | Fault::Conflict(at) => *at == number,
            Fault::BeforeAnswer(_) | Fault::LostCommit => false,
        });
        let fails = open.is_serializable && is_commit(sql) && lock(&self.watch).fails_commit(&self.database);
        let fault = fault.or(fails.then_some(Fault::Conflict(number)));
        open.transaction.was_hit |= fault.is_some();
        open.note(&self.watch);
        fault
    }

    /// Whether the statement's own message is not sent.
    fn inject_conflict(&mut self, frame: &Frame, passage: &mut Passage) -> Result<bool> {
        let before = lock(&self.watch).before_conflict.clone();
        let fail = format!(
            "DO $$ BEGIN {before} RAISE EXCEPTION '{CONFLICT}' USING ERRCODE = 'serialization_failure'; END $$"
        );
        if frame.kind() == QUERY {
            let begin = if is_begin(&frame.text(0)) { "BEGIN; " } else { "" };
            passage.bytes.extend_from_slice(Frame::query(&format!("{begin}{fail}"))?.bytes());
            self.conflict_answers = Some(0);
            return Ok(true);
        }
        // Whatever follows up to the next synchronisation is skipped by the server.
        for own in Frame::unnamed_statement(&fail)? {
            passage.bytes.extend_from_slice(own.bytes());
        }
        self.conflict_answers = Some(2);
        Ok(false)
    }

    /// Counts an answer; returns whether the client does not get it.
    fn count_answer(&mut self, tag: &str) -> bool {
        let Some(open) = &mut self.open else { return false };
        open.transaction.answers.push(tag.to_owned());
        let number = open.transaction.answers.len();
        let is_lost = match open.fault {
            Some(Fault::BeforeAnswer(at)) => at == number,
            Some(Fault::LostCommit) => tag == "COMMIT",
            _ => false,
        };
        open.transaction.was_hit |= is_lost;
        open.note(&self.watch);
        if ["COMMIT", "ROLLBACK"].contains(&tag) {
            self.open = None;
        }
        is_lost
    }
}

impl Watch {
    /// Whether the next SERIALIZABLE transaction of the database fails at its COMMIT: of one that runs again the first attempt.
    fn fails_commit(&mut self, database: &str) -> bool {
        let Some(commits) = &mut self.commits else { return false };
        let count = commits.entry(database.to_owned()).or_default();
        *count += 1;
        *count % 2 == 1
    }
}

impl OpenTransaction {
    /// Tells the test what is known now.
    fn note(&self, watch: &Mutex<Watch>) {
        let Some(place) = self.place else { return };
        if let Some(noted) = lock(watch).transactions.get_mut(place) {
            noted.clone_from(&self.transaction);
        }
    }
}

fn is_begin(sql: &str) -> bool {
    begins_with(sql, &["BEGIN", "START"])
}

fn is_commit(sql: &str) -> bool {
    begins_with(sql, &["COMMIT", "END"])
}

fn begins_with(sql: &str, words: &[&str]) -> bool {
    let first = sql.split(|character: char| !character.is_ascii_alphabetic()).find(|word| !word.is_empty());
    first.is_some_and(|first| words.iter().any(|word| first.eq_ignore_ascii_case(word)))
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
