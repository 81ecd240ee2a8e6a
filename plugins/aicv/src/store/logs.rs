//! Decoded logs of the chain, as the plugin audit publishes them.

use crate::model::StoredLog;
use plugin_api::{AgentId, Hash256, HostError, Query, sql};
use std::collections::{BTreeMap, BTreeSet};

/// Arguments that are longer prove no claim: the texts of the chain have no bound, and what one call reads has.
const ARGS_CHARS_MAX: usize = 16 * 1024;

fn columns() -> String {
    format!(
        "block, time_s, tx, log_index, contract, address, event, topic0, \
         CASE WHEN length(args) > {ARGS_CHARS_MAX} THEN '{{}}' ELSE args END AS args, \
         CASE WHEN length(args) > {ARGS_CHARS_MAX} THEN 1 ELSE 0 END AS is_too_large"
    )
}

/// Transactions of one statement, and logs that it reads: a claim whose log is beyond them is not proven.
const PART: usize = 50;
const LOGS_MAX: i64 = 2000;

/// The logs of these events in these transactions.
pub async fn of_transactions(
    db: &impl Query,
    transactions: &BTreeSet<Hash256>,
    events: &BTreeSet<&str>,
) -> Result<BTreeMap<Hash256, Vec<StoredLog>>, HostError> {
    let transactions: Vec<Hash256> = transactions.iter().copied().collect();
    let mut logs: BTreeMap<Hash256, Vec<StoredLog>> = BTreeMap::new();
    for part in transactions.chunks(PART) {
        let select = sql(format!("SELECT {} FROM chain_logs_v1 WHERE tx IN (NULL", columns()));
        let select = part.iter().fold(select, |select, tx| select.push_bind(", {}", *tx)).push(") AND event IN (''");
        let select = events.iter().fold(select, |select, event| select.push_bind(", {}", *event));
        let select = select.push_bind(") ORDER BY tx, log_index LIMIT {}", LOGS_MAX);
        for log in db.rows::<StoredLog>(select).await? {
            logs.entry(log.tx).or_default().push(log);
        }
    }
    Ok(logs)
}

/// Registrations of the agent: events that are named without a transaction.
pub async fn registrations(db: &impl Query, agent: AgentId) -> Result<Vec<StoredLog>, HostError> {
    let select = format!(
        "SELECT {} FROM chain_logs_v1 WHERE agent_id = $1 AND event = 'AgentRegistered' ORDER BY time_s, block, log_index LIMIT 1",
        columns()
    );
    db.rows(sql(select).bind(agent)).await
}
