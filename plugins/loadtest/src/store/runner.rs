//! What the runner does, and why it does not.

use super::taken;
use plugin_api::{HostError, Query, Tx, Wei, handles::Bind, sql};
use serde::{Deserialize, Serialize};

/// Key of the only row.
const ROW: i64 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Bind)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    Running,
    /// By the operator.
    Paused,
    /// Nothing new begins, and all coins go back to the float.
    Draining,
    Drained,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Runner {
    pub mode: Mode,
    pub reason: Option<String>,
    pub paused_since: Option<i64>,
    pub last_reason: Option<String>,
    pub last_paused_at: Option<i64>,
    /// JSON.
    pub guards: Option<String>,
    pub created_at: i64,
    pub started_at: i64,
    pub next_index: i64,
    pub pass: i64,
    pub swept_index: i64,
    /// The highest index that was ever used.
    pub used_index: i64,
    pub drained_at: Option<i64>,
    pub float_balance: Option<Wei>,
    pub fees: Wei,
}

/// `None` before the first start.
pub async fn find(db: &impl Query) -> Result<Option<Runner>, HostError> {
    let select = sql(
        "SELECT mode, reason, paused_since, last_reason, last_paused_at, guards, created_at, started_at, \
         next_index, pass, swept_index, used_index, drained_at, float_balance, fees FROM loadtest_runner WHERE id = $1",
    );
    db.row(select.bind(ROW)).await
}

pub async fn create(tx: &Tx) -> Result<(), HostError> {
    let insert = sql(
        "INSERT INTO loadtest_runner (id, mode, created_at, started_at, next_index, pass, swept_index, used_index, fees) \
         VALUES ($1, $2, $3, $3, 1, 0, 0, 0, '0') ON CONFLICT (id) DO NOTHING",
    );
    tx.execute(insert.bind((ROW, Mode::Running, tx.now_s()))).await.map(drop)
}

/// Changes the mode; a drain begins with the first wallet. Fails when somebody else has changed it: when it is not `from` any more.
pub async fn set_mode(tx: &Tx, from: Mode, mode: Mode) -> Result<(), HostError> {
    let update = sql("UPDATE loadtest_runner SET mode = $2, reason = NULL, paused_since = NULL, guards = NULL, \
         swept_index = CASE WHEN mode = 'draining' THEN swept_index ELSE 0 END, \
         drained_at = CASE WHEN $2 = 'drained' THEN cast($3 AS BIGINT) ELSE NULL END WHERE id = $1 AND mode = $4");
    taken(tx.execute(update.bind((ROW, mode, tx.now_s(), from))).await?)
}

/// What an operator wants; a start is also the first one. Returns false when there is nothing yet that could pause or drain.
pub async fn switch(tx: &Tx, mode: Mode) -> Result<bool, HostError> {
    if mode == Mode::Running {
        create(tx).await?;
    }
    let Some(found) = find(tx).await? else { return Ok(false) };
    if found.mode != mode {
        set_mode(tx, found.mode, mode).await?;
    }
    Ok(true)
}

/// What a run saw, and why it sends nothing, if it does not.
pub async fn note(tx: &Tx, reason: Option<&str>, guards: &str, float: Option<Wei>) -> Result<(), HostError> {
    let update = sql("UPDATE loadtest_runner SET guards = $3, float_balance = coalesce($4, float_balance), \
         paused_since = CASE WHEN cast($2 AS TEXT) IS NULL THEN NULL ELSE coalesce(paused_since, $5) END, \
         last_reason = coalesce($2, last_reason), \
         last_paused_at = CASE WHEN cast($2 AS TEXT) IS NULL THEN last_paused_at ELSE $5 END, reason = $2 WHERE id = $1");
    tx.execute(update.bind((ROW, reason, guards, float, tx.now_s()))).await.map(drop)
}

/// Notes which wallets a wave has taken. Fails when another one has taken them, or when no wave may begin any more.
pub async fn set_next(tx: &Tx, from: i64, next_index: i64, pass: i64) -> Result<(), HostError> {
    let update = sql("UPDATE loadtest_runner SET next_index = $2, pass = $3, \
         used_index = CASE WHEN used_index < $2 - 1 THEN $2 - 1 ELSE used_index END \
         WHERE id = $1 AND next_index = $4 AND mode = 'running'");
    taken(tx.execute(update.bind((ROW, next_index, pass, from))).await?)
}

/// Notes up to which wallet a drain has looked. Fails when another gateway has, or when it no longer drains.
pub async fn set_swept(tx: &Tx, from: i64, index: i64) -> Result<(), HostError> {
    let update =
        sql("UPDATE loadtest_runner SET swept_index = $2 WHERE id = $1 AND swept_index = $3 AND mode = 'draining'");
    taken(tx.execute(update.bind((ROW, index, from))).await?)
}

/// Adds what transactions in a final block cost.
pub async fn add_fees(tx: &Tx, fees: Wei) -> Result<(), HostError> {
    let Some(runner) = find(tx).await? else { return Ok(()) };
    let sum = runner.fees.saturating_add(fees);
    tx.execute(sql("UPDATE loadtest_runner SET fees = $2 WHERE id = $1").bind((ROW, sum))).await.map(drop)
}
