//! Decoded logs of the chain, as the plugin audit publishes them.
//!
//! The rule: what one document reads is bounded, and nobody's transaction keeps the logs of others out.

use crate::model::StoredLog;
use futures_util::future::try_join;
use plugin_api::{AgentId, Hash256, HostError, Query, sql};
use std::collections::{BTreeMap, BTreeSet};

/// Arguments that are longer prove no claim: the texts of the chain have no bound, and what one call reads has.
const ARGS_CHARS_MAX: usize = 12 * 1024;
/// Transactions of one statement, and logs that it reads.
const PART: usize = 200;
const LOGS_MAX: usize = 1000;
/// A transaction with fewer logs of an event is read in any case.
const FEW_LOGS: usize = 16;
/// Logs of an event that are read of transactions with more.
const CROWDED_LOGS_MAX: usize = 20 * LOGS_MAX;

fn columns() -> String {
    format!(
        "block, time_s, tx, log_index, contract, address, event, topic0, \
         CASE WHEN length(args) > {ARGS_CHARS_MAX} THEN '{{}}' ELSE args END AS args, \
         CASE WHEN length(args) > {ARGS_CHARS_MAX} THEN 1 ELSE 0 END AS is_too_large"
    )
}

/// Transactions by the event whose logs in them are asked for.
pub type TransactionsByEvent = BTreeMap<&'static str, BTreeSet<Hash256>>;

/// Logs of transactions that claims name.
#[derive(Default)]
pub struct NamedLogs {
    pub by_tx: BTreeMap<Hash256, Vec<StoredLog>>,
    /// Events of transactions whose logs were not read: there are too many.
    pub unread: BTreeSet<(&'static str, Hash256)>,
}

impl NamedLogs {
    fn add(&mut self, logs: Vec<StoredLog>) {
        logs.into_iter().for_each(|log| self.by_tx.entry(log.tx).or_default().push(log));
    }
}

/// The logs of each event in its transactions; of a transaction with very many the first.
pub async fn of_events(db: &impl Query, named: &TransactionsByEvent) -> Result<NamedLogs, HostError> {
    let mut events: BTreeMap<Hash256, BTreeSet<&'static str>> = BTreeMap::new();
    for (event, transactions) in named {
        for tx in transactions {
            events.entry(*tx).or_default().insert(*event);
        }
    }
    let mut logs = NamedLogs::default();
    // Of each event in a transaction with many of them.
    let mut crowded = Vec::new();
    let events: Vec<(Hash256, BTreeSet<&'static str>)> = events.into_iter().collect();
    for both in events.chunks(2 * PART) {
        let (one, other) = both.split_at(both.len().div_ceil(2));
        // While the one is decoded, the database reads the other.
        let (of_one, of_other) = try_join(of_any(db, one), of_any(db, other)).await?;
        for (part, read) in [(one, of_one), (other, of_other)] {
            if read.len() < LOGS_MAX {
                logs.add(read);
                continue;
            }
            for (tx, events) in part {
                for event in events {
                    let read = of_part(db, &[*tx], &[*event].into(), FEW_LOGS).await?;
                    if read.len() < FEW_LOGS { logs.add(read) } else { crowded.push((*event, *tx)) }
                }
            }
        }
    }
    let mut left: BTreeMap<&'static str, usize> = BTreeMap::new();
    for (event, tx) in crowded {
        let left = left.entry(event).or_insert(CROWDED_LOGS_MAX);
        if *left < LOGS_MAX {
            logs.unread.insert((event, tx));
            continue;
        }
        let read = of_part(db, &[tx], &[event].into(), LOGS_MAX).await?;
        *left -= read.len();
        logs.add(read);
    }
    Ok(logs)
}

/// The first logs of all events that are asked for, in all these transactions.
async fn of_any(db: &impl Query, part: &[(Hash256, BTreeSet<&'static str>)]) -> Result<Vec<StoredLog>, HostError> {
    let transactions: Vec<Hash256> = part.iter().map(|(tx, _)| *tx).collect();
    let events: BTreeSet<&'static str> = part.iter().flat_map(|(_, events)| events).copied().collect();
    if transactions.is_empty() { Ok(Vec::new()) } else { of_part(db, &transactions, &events, LOGS_MAX).await }
}

async fn of_part(
    db: &impl Query,
    transactions: &[Hash256],
    events: &BTreeSet<&'static str>,
    logs_max: usize,
) -> Result<Vec<StoredLog>, HostError> {
    let select = sql(format!("SELECT {} FROM chain_logs_v1 WHERE tx", columns()));
    // Few lengths: each makes another statement, which the gateway and the database prepare once.
    let length = if transactions.len() == 1 { 1 } else { transactions.len().next_multiple_of(PART / 8) };
    let last = transactions.last().copied();
    let padded = transactions.iter().copied().chain(std::iter::repeat_n(last, length).flatten()).take(length);
    let select = select.push_in(padded).push(" AND event").push_in(events.iter().copied());
    db.rows(select.push(&format!(" ORDER BY tx, log_index LIMIT {logs_max}"))).await
}

/// Registrations of the agent: events that are named without a transaction.
pub async fn registrations(db: &impl Query, agent: AgentId) -> Result<Vec<StoredLog>, HostError> {
    let select = format!(
        "SELECT {} FROM chain_logs_v1 WHERE agent_id = $1 AND event = 'AgentRegistered' ORDER BY time_s, block, log_index LIMIT 1",
        columns()
    );
    db.rows(sql(select).bind(agent)).await
}
