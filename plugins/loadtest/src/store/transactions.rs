//! What is signed. The rule: a transaction is stored before it is sent, is sent again as it is until its block is final, and is only then
//! deleted.

use super::wallets::listed;
use crate::model::{FLOAT, PlannedTransaction};
use plugin_api::{Hash256, HostError, Query, Sql, Tx, Wei, chain::SignedTransaction, sql};
use serde::Deserialize;
use std::collections::BTreeSet;

/// One that is to be sent.
#[derive(Clone, Debug, Deserialize)]
pub struct UnsentTransaction {
    pub id: i64,
    pub raw: String,
}

/// One whose block is final.
#[derive(Clone, Debug, Deserialize)]
pub struct FinalTransaction {
    pub hash: Hash256,
    pub kind: String,
    pub value_wei: Wei,
    pub fee: Wei,
}

pub async fn insert(tx: &Tx, wave: i64, signed: &[(PlannedTransaction, SignedTransaction)]) -> Result<(), HostError> {
    let columns = "hash, sender, nonce, recipient, kind, wave, value_wei, fee, raw";
    for some in signed.chunks(100) {
        let rows = some.iter().map(|(planned, signed)| {
            let PlannedTransaction { kind, sender, nonce, recipient, value, fee } = planned;
            (signed.hash, *sender, *nonce, *recipient, *kind, wave, *value, *fee, signed.raw.as_str())
        });
        if let Some(insert) = Sql::insert_rows("loadtest_transactions", columns, rows) {
            tx.execute(insert).await?;
        }
    }
    Ok(())
}

/// How many are in no block.
pub async fn pending(db: &impl Query) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM loadtest_transactions WHERE block IS NULL")).await
}

/// How many are stored: in no final block.
pub async fn stored(db: &impl Query) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM loadtest_transactions")).await
}

/// How many of a wave are in no block, and how many are stored.
pub async fn of_wave(db: &impl Query, wave: i64) -> Result<(i64, i64), HostError> {
    let select = sql("SELECT cast(coalesce(sum(CASE WHEN block IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT), count(*) \
         FROM loadtest_transactions WHERE wave = $1");
    db.one(select.bind(wave)).await
}

/// The wallets from and to which something of a wave is in no block.
pub async fn busy(db: &impl Query, wave: i64) -> Result<BTreeSet<i64>, HostError> {
    let select = sql("SELECT sender, recipient FROM loadtest_transactions WHERE wave = $1 AND block IS NULL");
    let rows: Vec<(i64, Option<i64>)> = db.rows(select.bind(wave)).await?;
    Ok(rows.into_iter().flat_map(|(sender, recipient)| [Some(sender), recipient]).flatten().collect())
}

/// What those in no block take from the float, fees included.
pub async fn float_owes(db: &impl Query) -> Result<Wei, HostError> {
    let select = sql("SELECT value_wei, fee FROM loadtest_transactions WHERE sender = $1 AND block IS NULL");
    let rows: Vec<(Wei, Wei)> = db.rows(select.bind(FLOAT)).await?;
    Ok(rows.into_iter().fold(Wei::ZERO, |sum, (value, fee)| sum.saturating_add(value).saturating_add(fee)))
}

/// The fees of all that are stored.
pub async fn fees(db: &impl Query) -> Result<Wei, HostError> {
    let fees: Vec<Wei> = db.rows(sql("SELECT fee FROM loadtest_transactions")).await?;
    Ok(fees.into_iter().fold(Wei::ZERO, Wei::saturating_add))
}

/// The oldest that no server took since then.
pub async fn unsent(db: &impl Query, before_ms: i64, limit: u32) -> Result<Vec<UnsentTransaction>, HostError> {
    let select = sql("SELECT id, raw FROM loadtest_transactions \
         WHERE block IS NULL AND (sent_ms IS NULL OR sent_ms < $1) ORDER BY id LIMIT $2");
    db.rows(select.bind((before_ms, limit))).await
}

pub async fn set_sent(tx: &Tx, ids: &[i64], now_ms: i64) -> Result<(), HostError> {
    for some in ids.chunks(500) {
        let update = sql("UPDATE loadtest_transactions SET refusal = NULL, sent_ms = $1 WHERE id IN (").bind(now_ms);
        tx.execute(listed(update, some).push(")")).await?;
    }
    Ok(())
}

/// A server refused it; it is sent again later.
pub async fn set_refused(tx: &Tx, id: i64, now_ms: i64, refusal: &str) -> Result<(), HostError> {
    let update = sql("UPDATE loadtest_transactions SET sent_ms = $2, refusal = $3 WHERE id = $1");
    tx.execute(update.bind((id, now_ms, refusal))).await.map(drop)
}

/// How many are refused, and why the oldest is.
pub async fn refused(db: &impl Query) -> Result<(i64, Option<String>), HostError> {
    let count = sql("SELECT count(*) FROM loadtest_transactions WHERE block IS NULL AND refusal IS NOT NULL");
    let oldest = sql("SELECT refusal FROM loadtest_transactions WHERE block IS NULL AND refusal IS NOT NULL \
         ORDER BY id LIMIT 1");
    Ok((db.one(count).await?, db.row(oldest).await?))
}

/// These are in this block.
pub async fn set_mined(tx: &Tx, hashes: &[Hash256], block: i64) -> Result<(), HostError> {
    for some in hashes.chunks(500) {
        let update = sql("UPDATE loadtest_transactions SET block = $1, refusal = NULL WHERE hash IN (").bind(block);
        tx.execute(listed(update, some).push(")")).await?;
    }
    Ok(())
}

/// Their block is no longer in the chain: they are sent again.
pub async fn give_back(tx: &Tx, block: i64) -> Result<(), HostError> {
    let update = sql("UPDATE loadtest_transactions SET block = NULL, sent_ms = NULL WHERE block = $1");
    tx.execute(update.bind(block)).await.map(drop)
}

/// Removes and returns those of a block that is final.
pub async fn take_final(tx: &Tx, block: i64) -> Result<Vec<FinalTransaction>, HostError> {
    let select = sql("SELECT hash, kind, value_wei, fee FROM loadtest_transactions WHERE block = $1").bind(block);
    let finished = tx.rows(select).await?;
    tx.execute(sql("DELETE FROM loadtest_transactions WHERE block = $1").bind(block)).await?;
    Ok(finished)
}
