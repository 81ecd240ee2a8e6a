//! What is paused: a chain, or everything.

use plugin_api::{Address, HostError, Query, Tx, sql};

/// The scope of everything. No chain has this name.
pub const ALL: &str = "";

/// Why nothing goes on for this chain, if it is paused.
pub async fn reason(db: &impl Query, chain: &str) -> Result<Option<String>, HostError> {
    let select = "SELECT reason FROM payin_pauses WHERE scope = $1 OR scope = $2 ORDER BY scope LIMIT 1";
    db.row(sql(select).bind((ALL, chain))).await
}

/// Scopes and reasons.
pub async fn list(db: &impl Query) -> Result<Vec<(String, String)>, HostError> {
    db.rows(sql("SELECT scope, reason FROM payin_pauses ORDER BY scope")).await
}

/// What is paused already keeps its reason.
pub async fn pause(tx: &Tx, scope: &str, reason: &str, operator: Option<Address>) -> Result<(), HostError> {
    let insert =
        "INSERT INTO payin_pauses (scope, reason, operator, at) VALUES ($1, $2, $3, $4) ON CONFLICT (scope) DO NOTHING";
    tx.execute(sql(insert).bind((scope, reason, operator, tx.now_s()))).await.map(drop)
}

pub async fn resume(tx: &Tx, scope: &str) -> Result<(), HostError> {
    tx.execute(sql("DELETE FROM payin_pauses WHERE scope = $1").bind(scope)).await.map(drop)
}
