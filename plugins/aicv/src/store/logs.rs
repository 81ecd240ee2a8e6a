//! Decoded logs of the chain, as the plugin audit publishes them.

use crate::model::StoredLog;
use plugin_api::{AgentId, Hash256, HostError, Query, sql};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const COLUMNS: &str = "block, time_s, tx, log_index, contract, address, event, topic0, args";

/// Transactions of one statement.
const PART: usize = 200;

/// The logs of these transactions.
pub async fn of_transactions(
    db: &impl Query,
    transactions: &BTreeSet<Hash256>,
) -> Result<BTreeMap<Hash256, Vec<StoredLog>>, HostError> {
    let transactions: Vec<Hash256> = transactions.iter().copied().collect();
    let mut logs: BTreeMap<Hash256, Vec<StoredLog>> = BTreeMap::new();
    for part in transactions.chunks(PART) {
        let select = sql(format!("SELECT {COLUMNS} FROM chain_logs_v1 WHERE tx IN (NULL"));
        let select =
            part.iter().fold(select, |select, tx| select.push_bind(", {}", *tx)).push(") ORDER BY tx, log_index");
        for log in db.rows::<StoredLog>(select).await? {
            logs.entry(log.tx).or_default().push(log);
        }
    }
    Ok(logs)
}

/// Registrations of the agent: events that are named without a transaction.
pub async fn registrations(db: &impl Query, agent: AgentId) -> Result<Vec<StoredLog>, HostError> {
    let select = format!(
        "SELECT {COLUMNS} FROM chain_logs_v1 WHERE agent_id = $1 AND event = 'AgentRegistered' ORDER BY time_s, block, log_index LIMIT 1"
    );
    db.rows(sql(select).bind(agent)).await
}

/// The hash that the owner anchored last under the metadata key `cv`, and when it stands in the chain; an empty value takes it back.
pub async fn anchored(db: &impl Query, agent: AgentId) -> Result<Option<Hash256>, HostError> {
    let select = format!(
        "SELECT {COLUMNS} FROM chain_logs_v1 WHERE agent_id = $1 AND event = 'MetadataSet' ORDER BY time_s DESC, block DESC, log_index DESC LIMIT 200"
    );
    let logs: Vec<StoredLog> = db.rows(sql(select).bind(agent)).await?;
    let is_cv =
        |log: &&StoredLog| log.contract == "identity8004" && log.args.get("metadataKey") == Some(&Value::from("cv"));
    let newest = logs.iter().find(is_cv);
    let value = newest.and_then(|log| log.args.get("metadataValue")).and_then(Value::as_str);
    Ok(value.and_then(|value| value.get(..66)).and_then(|hash| hash.parse().ok()))
}
