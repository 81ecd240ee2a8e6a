//! What calls and accounts have in common: each is one intent of the gateway's journal, followed to its end.

use super::caps::DAY_S;
use plugin_api::{HostError, Query, Sql, Tx, chain::IntentEnd, sql};
use serde::Deserialize;

/// A table of what is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendsTable {
    Calls,
    Accounts,
}

impl SendsTable {
    const fn name(self) -> &'static str {
        match self {
            Self::Calls => "relay_calls",
            Self::Accounts => "relay_accounts",
        }
    }

    /// The column with the key of the first cap.
    const fn share(self) -> &'static str {
        match self {
            Self::Calls => "account",
            Self::Accounts => "share",
        }
    }
}

/// One that is on its way.
#[derive(Clone, Debug, Deserialize)]
pub struct OpenSend {
    pub id: i64,
    pub intent: i64,
    /// Key of the first cap.
    pub share: String,
    pub client: Option<String>,
    pub site: Option<String>,
    pub created_at: i64,
    pub mined_at: Option<i64>,
}

pub async fn open(db: &impl Query, table: SendsTable, limit: u32) -> Result<Vec<OpenSend>, HostError> {
    let (name, share) = (table.name(), table.share());
    let select = format!(
        "SELECT id, intent, {share} AS share, client, site, created_at, mined_at FROM {name} WHERE state = 'open' \
         ORDER BY id LIMIT $1"
    );
    db.rows(sql(select).bind(limit)).await
}

pub async fn set_intent(tx: &Tx, table: SendsTable, id: i64, intent: i64) -> Result<(), HostError> {
    let update = format!("UPDATE {} SET intent = $2 WHERE id = $1", table.name());
    tx.execute(sql(update).bind((id, intent))).await.map(drop)
}

pub async fn set_mined(tx: &Tx, table: SendsTable, id: i64, is_mined: bool) -> Result<(), HostError> {
    let update = format!("UPDATE {} SET mined_at = $2 WHERE id = $1", table.name());
    tx.execute(sql(update).bind((id, is_mined.then(|| tx.now_s())))).await.map(drop)
}

/// Ends one; returns false when it had ended.
pub async fn end(tx: &Tx, table: SendsTable, id: i64, end: IntentEnd) -> Result<bool, HostError> {
    let update = format!("UPDATE {} SET state = $2 WHERE id = $1 AND state = 'open'", table.name());
    Ok(tx.execute(sql(update).bind((id, end))).await? > 0)
}

/// Removes hashes of clients and, later, what ended long ago. The job runs every hour.
pub fn prune(table: SendsTable, now_s: i64) -> Vec<Sql> {
    let name = table.name();
    let clients = format!("UPDATE {name} SET client = NULL, site = NULL WHERE created_at < $1 AND client IS NOT NULL");
    let ended = format!("DELETE FROM {name} WHERE created_at < $1 AND state <> 'open'");
    vec![sql(clients).bind(now_s - 2 * DAY_S + 3600), sql(ended).bind(now_s - 90 * DAY_S)]
}
