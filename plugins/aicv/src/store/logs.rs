//! Decoded logs of the chain, as the plugin audit publishes them.

use crate::model::StoredLog;
use plugin_api::{AgentId, Hash256, HostError, Query, sql};
use std::collections::{BTreeMap, BTreeSet};

/// Arguments that are longer prove no claim: the texts of the chain have no bound, and what one call reads has.
const ARGS_CHARS_MAX: usize = 12 * 1024;
/// Transactions of one statement, and logs that it reads.
const PART: usize = 100;
const LOGS_MAX: usize = 1000;

fn columns() -> String {
    format!(
        "block, time_s, tx, log_index, contract, address, event, topic0, \
         CASE WHEN length(args) > {ARGS_CHARS_MAX} THEN '{{}}' ELSE args END AS args, \
         CASE WHEN length(args) > {ARGS_CHARS_MAX} THEN 1 ELSE 0 END AS is_too_large"
    )
}

/// The logs of each event in its transactions; of a transaction with very many the first.
pub async fn of_events(
    db: &impl Query,
    named: &BTreeMap<&str, BTreeSet<Hash256>>,
) -> Result<BTreeMap<Hash256, Vec<StoredLog>>, HostError> {
    let mut logs: BTreeMap<Hash256, Vec<StoredLog>> = BTreeMap::new();
    let mut add = |read: Vec<StoredLog>| read.into_iter().for_each(|log| logs.entry(log.tx).or_default().push(log));
    for (event, transactions) in named {
        let transactions: Vec<Hash256> = transactions.iter().copied().collect();
        for part in transactions.chunks(PART) {
            let read = of_part(db, part, event).await?;
            if read.len() < LOGS_MAX {
                add(read);
                continue;
            }
            // Nobody's transaction keeps the logs of others out.
            for transaction in part {
                add(of_part(db, &[*transaction], event).await?);
            }
        }
    }
    Ok(logs)
}

async fn of_part(db: &impl Query, transactions: &[Hash256], event: &str) -> Result<Vec<StoredLog>, HostError> {
    let select = sql(format!("SELECT {} FROM chain_logs_v1 WHERE event = $1 AND tx IN (NULL", columns())).bind(event);
    let select = transactions.iter().fold(select, |select, tx| select.push_bind(", {}", *tx));
    db.rows(select.push(&format!(") ORDER BY tx, log_index LIMIT {LOGS_MAX}"))).await
}

/// Registrations of the agent: events that are named without a transaction.
pub async fn registrations(db: &impl Query, agent: AgentId) -> Result<Vec<StoredLog>, HostError> {
    let select = format!(
        "SELECT {} FROM chain_logs_v1 WHERE agent_id = $1 AND event = 'AgentRegistered' ORDER BY time_s, block, log_index LIMIT 1",
        columns()
    );
    db.rows(sql(select).bind(agent)).await
}
