//! What the database holds, read past the gateway, and compared with what clients know.

use crate::{
    configuration::Workload,
    ledger::{Ledger, Outcome, Write},
    order_book::{StoredOrder, StoredVoucher},
    vault::Settlement,
};
use plugin_testing::Value;
use rusqlite::{Connection, Row, types::FromSql};
use std::collections::{BTreeMap, BTreeSet};

/// How the title of a thread begins, and its opening post.
pub const THREAD: &str = "thread ";
pub const OPENING: &str = "opening ";

const POSTS: &str = "SELECT body, author FROM forum_posts ORDER BY id";
const THREADS: &str = "SELECT title, author FROM forum_threads ORDER BY id";
const MESSAGES: &str = "SELECT subject, sender FROM messages_messages ORDER BY id";
const AGENTS: &str = "SELECT id || ' ' || name, owner FROM agents_agents ORDER BY id";
const EVENTS: &str = "SELECT type || ' ' || data, coalesce(actor, '') FROM host_activity ORDER BY id";
const EVENT_IDS: &str = "SELECT id FROM host_activity ORDER BY id";
/// Events that have no place in the log yet.
const WAITING: &str = "SELECT count(*) FROM host_activity_outbox";
const SHIFTS: &str = "SELECT shift, step FROM shifts_steps ORDER BY position";
/// Payouts that were recorded, whatever became of them: the journal carries them out.
const PAYOUTS: &str = "SELECT recipient, fmx_out FROM payin_quotes WHERE intent IS NOT NULL ORDER BY id";
const SETTLEMENTS: &str = "SELECT payer, nonce, amount FROM x402_settled ORDER BY payer, nonce";
const ORDERS: &str = "SELECT text, payer, nonce, is_signed FROM shop_orders ORDER BY id";
const VOUCHERS: &str = "SELECT payer, nonce, state FROM x402_vouchers ORDER BY payer, nonce";
const WRONG_COUNTS: &str =
    "SELECT id FROM forum_threads t WHERE post_count <> (SELECT count(*) FROM forum_posts p WHERE p.thread_id = t.id)";

#[derive(Default)]
pub struct StoredRows {
    pub event_ids: Vec<i64>,
    /// How many events have no place in the log yet.
    pub waiting: i64,
    /// Text and author, in the order of their ids.
    threads: Vec<(String, String)>,
    posts: Vec<(String, String)>,
    messages: Vec<(String, String)>,
    /// Id with name, and owner.
    agents: Vec<(String, String)>,
    events: Vec<(String, String)>,
    wrong_counts: Vec<i64>,
    /// Shift and step.
    shifts: Vec<(i64, i64)>,
    /// Recipient and wei of payouts.
    pub payouts: Vec<(String, String)>,
    /// What the index has of the vault.
    pub settlements: Vec<Settlement>,
    pub orders: Vec<StoredOrder>,
    pub vouchers: Vec<StoredVoucher>,
}

impl StoredRows {
    /// `is_shared`: by several gateways, whose events wait for their places in the log.
    pub fn read(connection: &Connection, is_shared: bool, workload: Workload) -> rusqlite::Result<Self> {
        let waiting = if is_shared { connection.query_row(WAITING, [], |row| row.get(0))? } else { 0 };
        let events = (pairs(connection, EVENTS)?, numbers(connection, EVENT_IDS)?);
        let mut stored = Self { events: events.0, event_ids: events.1, waiting, ..Self::default() };
        if workload.has_forum() {
            stored.threads = pairs(connection, THREADS)?;
            stored.posts = pairs(connection, POSTS)?;
            stored.messages = pairs(connection, MESSAGES)?;
            stored.agents = pairs(connection, AGENTS)?;
            stored.wrong_counts = numbers(connection, WRONG_COUNTS)?;
            stored.shifts = if is_shared { pairs(connection, SHIFTS)? } else { Vec::new() };
        }
        if workload.has_payments() {
            stored.payouts = pairs(connection, PAYOUTS)?;
        }
        if workload.has_vouchers() {
            stored.settlements = rows(connection, SETTLEMENTS, |row| {
                Ok(Settlement { payer: row.get(0)?, nonce: row.get(1)?, amount: row.get(2)? })
            })?;
            stored.vouchers = rows(connection, VOUCHERS, |row| {
                Ok(StoredVoucher { payer: row.get(0)?, nonce: row.get(1)?, state: row.get(2)? })
            })?;
        }
        if workload.has_orders() {
            stored.orders = rows(connection, ORDERS, |row| {
                let (text, payer, nonce) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok(StoredOrder { text, payer, nonce, is_signed: row.get(3)? })
            })?;
        }
        Ok(stored)
    }

    pub fn write_count(&self) -> usize {
        self.threads.len()
            + self.messages.len()
            + self.posts.iter().filter(|(body, _)| !body.starts_with(OPENING)).count()
    }

    /// Every acknowledged write is there once, whole, with its event; nothing else that was not sent is. `is_settled`: no client waits
    /// for a response, so that everything that is stored is known to the ledger.
    pub fn check(&self, ledger: &Ledger, is_settled: bool) -> Vec<String> {
        let mut found = Vec::new();
        let (replies, openings): (Vec<_>, Vec<_>) = self.posts.iter().partition(|(body, _)| !body.starts_with(OPENING));
        let events: Vec<(String, String)> =
            self.events.iter().filter_map(|(event, actor)| text_of(event, actor)).collect();
        let threads = counted(&self.threads);
        let stored = [counted(replies), counted(&self.threads), counted(&self.messages)];
        let stored: BTreeMap<(&str, &str), usize> = stored.into_iter().flatten().collect();
        let opened: Vec<(String, String)> = openings
            .into_iter()
            .map(|(body, author)| (body.strip_prefix(OPENING).unwrap_or_default().to_owned(), author.clone()))
            .collect();
        if counted(&opened) != threads {
            found.push("not every thread has its opening post once".to_owned());
        }
        if let Some(text) = difference(&stored, &counted(&events)) {
            found.push(format!("write and event differ: {text}"));
        }
        if !self.wrong_counts.is_empty() {
            found.push(format!("wrong counts of posts in threads {:?}", self.wrong_counts));
        }
        // Also a stream that leaves out what the log leaves out has a gap.
        let gap = (1..).zip(&self.event_ids).find(|(expected, id)| expected != *id);
        found.extend(gap.map(|(expected, id)| format!("the log goes on with {id} where {expected} comes next")));
        if self.waiting > 0 && is_settled {
            found.push(format!("{} events have no place in the log", self.waiting));
        }
        found.extend(self.check_shifts());
        found.extend(self.compare(&stored, ledger, is_settled));
        found
    }

    /// The steps of a run are in their order, and none comes after those of a later run.
    fn check_shifts(&self) -> Option<String> {
        let is_next = |((shift, step), (next_shift, next_step)): ((i64, i64), (i64, i64))| {
            (next_shift == shift && next_step == step + 1) || (next_shift > shift && next_step == 1)
        };
        let pairs = self.shifts.iter().copied().zip(self.shifts.iter().copied().skip(1));
        let ((shift, step), (next_shift, next_step)) = pairs.into_iter().find(|pair| !is_next(*pair))?;
        Some(format!("step {next_step} of run {next_shift} of a job comes after step {step} of run {shift}"))
    }

    /// Whether the index has the agents that the chain has; these are given as the table names them.
    pub fn check_agents(&self, expected: &[(String, String)]) -> Option<String> {
        let (expected, indexed) = (counted(expected), counted(&self.agents));
        let differing = difference(&expected, &indexed)?;
        let (chain, index) = (expected.len(), indexed.len());
        Some(format!("the chain has {chain} agents and the index {index}; one that differs: {differing}"))
    }

    fn compare(&self, stored: &BTreeMap<(&str, &str), usize>, ledger: &Ledger, is_settled: bool) -> Vec<String> {
        let mut found = Vec::new();
        let mut known = BTreeSet::new();
        for write in &ledger.writes {
            let key = (write.text.as_str(), write.author.as_str());
            known.insert(key);
            found.extend(judge(write, stored.get(&key).copied().unwrap_or_default()));
        }
        if is_settled {
            let unknown = stored.keys().filter(|key| !known.contains(*key));
            found.extend(unknown.map(|(text, author)| format!("nobody sent {text:?} as {author}")));
        }
        found
    }
}

fn judge(write: &Write, count: usize) -> Option<String> {
    let what = match (write.outcome, count) {
        (Outcome::Acknowledged, 0) => "acknowledged and lost",
        (Outcome::Refused, 1..) => "refused and stored",
        (_, 2..) => "stored twice",
        _ => return None,
    };
    let Write { kind, text, author, .. } = write;
    Some(format!("{what}: {kind:?} {text:?} of {author}"))
}

/// What a write's event says of its text.
fn text_of(event: &str, actor: &str) -> Option<(String, String)> {
    let (kind, data) = event.split_once(' ')?;
    let data: Value = serde_json::from_str(data).ok()?;
    let text = match kind {
        "thread.create" => data["title"].as_str()?,
        "post.create" => data["excerpt"].as_str()?,
        "message.send" => data["subject"].as_str()?,
        _ => return None,
    };
    Some((text.to_owned(), actor.to_owned()))
}

fn counted<'a>(pairs: impl IntoIterator<Item = &'a (String, String)>) -> BTreeMap<(&'a str, &'a str), usize> {
    let mut counts = BTreeMap::new();
    for (text, author) in pairs {
        *counts.entry((text.as_str(), author.as_str())).or_default() += 1;
    }
    counts
}

fn difference(left: &BTreeMap<(&str, &str), usize>, right: &BTreeMap<(&str, &str), usize>) -> Option<String> {
    let only = |one: &BTreeMap<(&str, &str), usize>, other: &BTreeMap<(&str, &str), usize>| {
        one.iter()
            .find(|(key, count)| other.get(*key) != Some(count))
            .map(|((text, author), _)| format!("{text:?} of {author}"))
    };
    only(left, right).or_else(|| only(right, left))
}

fn pairs<T: FromSql>(connection: &Connection, select: &str) -> rusqlite::Result<Vec<(T, T)>> {
    rows(connection, select, |row| Ok((row.get(0)?, row.get(1)?)))
}

fn numbers(connection: &Connection, select: &str) -> rusqlite::Result<Vec<i64>> {
    rows(connection, select, |row| row.get(0))
}

fn rows<T>(
    connection: &Connection,
    select: &str,
    of_row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare(select)?.query_map([], of_row)?.collect()
}
