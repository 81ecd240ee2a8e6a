//! Decoded logs of the chain, as the plugin audit publishes them.
//!
//! The rule: what one document reads is bounded, and nobody's transaction keeps the logs of others out.

use crate::model::StoredLog;
use plugin_api::{AgentId, Hash256, HostError, Query, sql};
use std::collections::{BTreeMap, BTreeSet};

/// Arguments that are longer prove no claim: the texts of the chain have no bound, and what one call reads has.
const ARGS_CHARS_MAX: usize = 12 * 1024;
/// Transactions of one statement, and logs that it reads.
const PART: usize = 100;
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
    let mut logs = NamedLogs::default();
    for (event, transactions) in named {
        let transactions: Vec<Hash256> = transactions.iter().copied().collect();
        let mut crowded = Vec::new();
        for part in transactions.chunks(PART) {
            let read = of_part(db, part, event, LOGS_MAX).await?;
            if read.len() < LOGS_MAX {
                logs.add(read);
                continue;
            }
            for transaction in part {
                let read = of_part(db, &[*transaction], event, FEW_LOGS).await?;
                if read.len() < FEW_LOGS { logs.add(read) } else { crowded.push(*transaction) }
            }
        }
        let mut left = CROWDED_LOGS_MAX;
        for transaction in crowded {
            if left < LOGS_MAX {
                logs.unread.insert((*event, transaction));
                continue;
            }
            let read = of_part(db, &[transaction], event, LOGS_MAX).await?;
            left -= read.len();
            logs.add(read);
        }
    }
    Ok(logs)
}

async fn of_part(
    db: &impl Query,
    transactions: &[Hash256],
    event: &str,
    logs_max: usize,
) -> Result<Vec<StoredLog>, HostError> {
    let select = sql(format!("SELECT {} FROM chain_logs_v1 WHERE event = $1 AND tx", columns())).bind(event);
    let select = select.push_in(transactions.iter().copied());
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
