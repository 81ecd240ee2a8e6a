//! How far each chain is scanned. Rule: the position moves only from where the transaction found it, so that two gateways that both believe
//! they scan a chain never leave blocks out.

use plugin_api::{Hash256, HostError, Query, Tx, sql};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A chain is unavailable after so many failed scans in a row, or without a complete one for so long.
pub const FAILURES_MAX: i64 = 3;
const AGE_MAX_S: i64 = 300;

/// The scan of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Scan {
    pub chain: String,
    pub scanned_to: i64,
    pub hash: Option<Hash256>,
    /// Time of the block that had all confirmations after the last complete scan.
    pub safe_time: i64,
    pub last_ok_at: Option<i64>,
    pub last_error_at: Option<i64>,
    pub last_error: Option<String>,
    pub failures: i64,
}

const COLUMNS: &str = "chain, scanned_to, hash, safe_time, last_ok_at, last_error_at, last_error, failures";

impl Scan {
    /// Why no quote can be given for this chain.
    pub fn unavailable(scan: Option<&Self>, now_s: i64) -> Option<String> {
        let Some(scan) = scan else { return Some("its deposits were not scanned yet".to_owned()) };
        let Some(last_ok_at) = scan.last_ok_at else { return Some("its deposits were not scanned yet".to_owned()) };
        if scan.failures >= FAILURES_MAX {
            return Some("the last scans for deposits have failed".to_owned());
        }
        (now_s - last_ok_at > AGE_MAX_S).then(|| "the last complete scan for deposits is too old".to_owned())
    }
}

pub async fn find(db: &impl Query, chain: &str) -> Result<Option<Scan>, HostError> {
    db.row(sql(format!("SELECT {COLUMNS} FROM payin_scans WHERE chain = $1")).bind(chain)).await
}

pub async fn all(db: &impl Query) -> Result<BTreeMap<String, Scan>, HostError> {
    let scans: Vec<Scan> = db.rows(sql(format!("SELECT {COLUMNS} FROM payin_scans"))).await?;
    Ok(scans.into_iter().map(|scan| (scan.chain.clone(), scan)).collect())
}

/// The first position; nothing changes where there is one. A scan that failed before there was any left -1.
pub async fn begin(tx: &Tx, chain: &str, scanned_to: i64, hash: Hash256) -> Result<(), HostError> {
    let insert = "INSERT INTO payin_scans (chain, scanned_to, hash, safe_time, failures) VALUES ($1, $2, $3, 0, 0) \
         ON CONFLICT (chain) DO UPDATE SET scanned_to = excluded.scanned_to, hash = excluded.hash WHERE payin_scans.scanned_to < 0";
    tx.execute(sql(insert).bind((chain, scanned_to, hash))).await.map(drop)
}

/// Moves the position from `from`; returns false when it is not there.
pub async fn advance(tx: &Tx, from: &Scan, scanned_to: i64, hash: Option<Hash256>) -> Result<bool, HostError> {
    let update = "UPDATE payin_scans SET scanned_to = $2, hash = $3 WHERE chain = $1 AND scanned_to = $4";
    let update = sql(update).bind((&*from.chain, scanned_to, hash, from.scanned_to));
    Ok(tx.execute(update).await? > 0)
}

/// Whether the position is still where it was read.
pub async fn is_at(tx: &Tx, from: &Scan) -> Result<bool, HostError> {
    let current = find(tx, &from.chain).await?;
    Ok(current.is_some_and(|current| (current.scanned_to, current.hash) == (from.scanned_to, from.hash)))
}

/// Has blocks from this one on scanned again.
pub async fn rewind(tx: &Tx, chain: &str, block: i64) -> Result<(), HostError> {
    let update = "UPDATE payin_scans SET scanned_to = $2, hash = NULL WHERE chain = $1 AND scanned_to > $2";
    tx.execute(sql(update).bind((chain, block.saturating_sub(1).max(0)))).await.map(drop)
}

/// Records a complete scan.
pub async fn complete(tx: &Tx, chain: &str, safe_time: i64) -> Result<(), HostError> {
    let update = "UPDATE payin_scans SET last_ok_at = $2, failures = 0, \
         safe_time = CASE WHEN safe_time > $3 THEN safe_time ELSE $3 END WHERE chain = $1";
    tx.execute(sql(update).bind((chain, tx.now_s(), safe_time))).await.map(drop)
}

/// Records a scan that failed, for everybody.
pub async fn fail(tx: &Tx, chain: &str, error: &str) -> Result<(), HostError> {
    let update = "INSERT INTO payin_scans (chain, scanned_to, safe_time, last_error_at, last_error, failures) \
         VALUES ($1, -1, 0, $2, $3, 1) ON CONFLICT (chain) DO UPDATE SET last_error_at = excluded.last_error_at, \
         last_error = excluded.last_error, failures = payin_scans.failures + 1";
    tx.execute(sql(update).bind((chain, tx.now_s(), error))).await.map(drop)
}
