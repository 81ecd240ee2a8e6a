//! Batches: which vouchers are sent together, by which intent of the gateway's journal.

use super::vouchers::{NewVoucher, is_unsettled};
use crate::model::Voucher;
use plugin_api::{Address, Hash256, HostError, Query, Sql, Tx, Wei, sql};
use serde::Deserialize;

/// Name of the job that sends them.
pub const SETTLE_JOB: &str = "settle";

/// Key of a voucher.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct VoucherKey {
    pub payer: Address,
    pub nonce: Wei,
}

/// A voucher that waits for a batch.
#[derive(Clone, Debug, Deserialize)]
pub struct Waiting {
    pub payer: Address,
    pub nonce: Wei,
    pub by_contract: bool,
    /// Since when it waits: after a failed attempt since that.
    pub queued_at: i64,
    pub expiry_s: i64,
    /// From when the payer may take his deposit out of the vault, in Unix seconds; 0 while it is locked.
    pub unlock_at: i64,
    /// Batches with it alone that failed.
    pub attempts: i64,
}

/// Those that wait, the oldest first and those that failed before last. One that somebody has settled already waits for nothing.
pub async fn waiting(db: &impl Query, vault: Address, limit: u32) -> Result<Vec<Waiting>, HostError> {
    let select = sql(concat!(
        "SELECT payer, nonce, by_contract, queued_at, expiry_s, coalesce((SELECT a.unlock_at FROM x402_accounts a \
         WHERE a.payer = x402_vouchers.payer AND a.vault = x402_vouchers.vault), 0) AS unlock_at, attempts \
         FROM x402_vouchers WHERE state = 'queued' AND vault = $1 AND ",
        is_unsettled!(),
        " ORDER BY attempts, queued_at, payer, nonce LIMIT $2"
    ));
    db.rows(select.bind((vault, limit))).await
}

/// A batch that is on its way.
#[derive(Clone, Debug, Deserialize)]
pub struct Batch {
    pub id: i64,
    pub intent: i64,
    pub is_mined: bool,
}

/// Those after this one.
pub async fn sent(db: &impl Query, after: i64, limit: u32) -> Result<Vec<Batch>, HostError> {
    let select =
        sql("SELECT id, intent, is_mined FROM x402_batches WHERE state = 'sent' AND id > $1 ORDER BY id LIMIT $2");
    db.rows(select.bind((after, limit))).await
}

/// A new batch without intent; returns its id.
pub async fn insert(tx: &Tx) -> Result<i64, HostError> {
    let insert = sql(
        "INSERT INTO x402_batches (intent, state, is_mined, by_contract, created_at) VALUES (0, 'sent', 0, 0, $1) RETURNING id",
    );
    tx.one(insert.bind(tx.now_s())).await
}

pub async fn set_intent(tx: &Tx, batch: i64, intent: i64, by_contract: bool) -> Result<(), HostError> {
    let update = sql("UPDATE x402_batches SET intent = $2, by_contract = $3 WHERE id = $1");
    tx.execute(update.bind((batch, intent, by_contract))).await.map(drop)
}

/// Whether its transaction is in a block now.
pub async fn set_mined(tx: &Tx, batch: i64, is_mined: bool) -> Result<(), HostError> {
    tx.execute(sql("UPDATE x402_batches SET is_mined = $2 WHERE id = $1").bind((batch, is_mined))).await.map(drop)
}

pub async fn delete(tx: &Tx, batch: i64) -> Result<(), HostError> {
    tx.execute(sql("DELETE FROM x402_batches WHERE id = $1").bind(batch)).await.map(drop)
}

/// A row of a voucher that has just been moved into a batch.
#[derive(Deserialize)]
struct Moved {
    payer: Address,
    payee: Address,
    amount: Wei,
    nonce: Wei,
    expiry_s: i64,
    reference: Hash256,
    signature: String,
    by_contract: bool,
    vault: Address,
    resource: String,
}

/// Moves those of the vouchers into the batch that are in no other one: queued, or in the batch `from`, which has failed.
pub async fn fill(tx: &Tx, batch: i64, from: Option<i64>, keys: &[VoucherKey]) -> Result<Vec<NewVoucher>, HostError> {
    let condition = match from {
        Some(_) => "state = 'submitted' AND batch = $4",
        None => "state = 'queued' AND batch IS NULL",
    };
    let text = format!(
        "UPDATE x402_vouchers SET state = 'submitted', batch = $3 WHERE payer = $1 AND nonce = $2 AND {condition} \
         RETURNING payer, payee, amount, nonce, expiry_s, reference, signature, by_contract, vault, resource"
    );
    let move_one = |key: &VoucherKey| {
        let update = sql(text.clone()).bind((key.payer, key.nonce, batch));
        match from {
            Some(from) => update.bind(from),
            None => update,
        }
    };
    let mut moved = Vec::with_capacity(keys.len());
    for result in tx.batch(keys.iter().map(move_one).collect::<Vec<Sql>>()).await? {
        if let Some(row) = result.first::<Moved>()? {
            let Moved { payer, payee, amount, nonce, expiry_s, reference, signature, by_contract, vault, resource } =
                row;
            let voucher = Voucher { payer, payee, amount, nonce, expiry_s, reference };
            moved.push(NewVoucher { voucher, signature, by_contract, vault, resource });
        }
    }
    Ok(moved)
}

/// Notes the transactions of a batch, so that what the vault says in them counts.
pub async fn note_transactions(tx: &Tx, batch: i64, hashes: &[Hash256]) -> Result<(), HostError> {
    let rows = hashes.iter().map(|hash| (*hash, batch));
    let Some(insert) = Sql::insert_rows("x402_batch_transactions", "tx, batch", rows) else { return Ok(()) };
    tx.execute(insert.push(" ON CONFLICT (tx) DO NOTHING")).await.map(drop)
}

pub async fn transactions(db: &impl Query, batch: i64) -> Result<Vec<Hash256>, HostError> {
    db.rows(sql("SELECT tx FROM x402_batch_transactions WHERE batch = $1").bind(batch)).await
}

/// Ends a batch; returns false when it had ended.
pub async fn end(tx: &Tx, batch: i64, state: &'static str, reason: Option<&str>) -> Result<bool, HostError> {
    let update = sql("UPDATE x402_batches SET state = $2, reason = $3, ended_at = $4 WHERE id = $1 AND state = 'sent'");
    Ok(tx.execute(update.bind((batch, state, reason, tx.now_s()))).await? > 0)
}

/// Whether every voucher of the batch has ended.
pub async fn has_ended(db: &impl Query, batch: i64) -> Result<bool, HostError> {
    let select = sql("SELECT count(*) FROM x402_vouchers WHERE batch = $1 AND state = 'submitted'").bind(batch);
    Ok(db.one::<i64>(select).await? == 0)
}

/// A voucher that was alone in a batch that failed: waits again, or has failed after the last attempt.
pub async fn count_attempt(tx: &Tx, batch: i64, attempts_max: i64, reason: &str) -> Result<(), HostError> {
    let update = sql("UPDATE x402_vouchers SET attempts = attempts + 1, \
         state = CASE WHEN attempts + 1 >= $2 THEN 'failed' ELSE 'queued' END, reason = $3, queued_at = $4, \
         closed_at = CASE WHEN attempts + 1 >= $2 THEN cast($4 AS BIGINT) END, batch = NULL \
         WHERE batch = $1 AND state = 'submitted'");
    tx.execute(update.bind((batch, attempts_max, reason, tx.now_s()))).await.map(drop)
}

/// Vouchers of a failed batch that expired meanwhile.
pub async fn skip_expired(tx: &Tx, batch: i64, reason: &str) -> Result<u64, HostError> {
    let update = sql("UPDATE x402_vouchers SET state = 'skipped', reason = $2, closed_at = $3 \
         WHERE batch = $1 AND state = 'submitted' AND expiry_s < $3");
    tx.execute(update.bind((batch, reason, tx.now_s()))).await
}

/// How many vouchers were sent in a batch, whatever became of them since.
pub async fn size(tx: &Tx, batch: i64) -> Result<i64, HostError> {
    tx.one(sql("SELECT count(*) FROM x402_vouchers WHERE batch = $1").bind(batch)).await
}

/// Puts vouchers of a failed batch back into the queue that are not of this vault: there the job ends them. Their failure is not their
/// own. So it does with those that somebody has settled meanwhile, until the vault's log is final.
pub async fn put_back_others(tx: &Tx, batch: i64, vault: Option<Address>) -> Result<(), HostError> {
    let update =
        sql("UPDATE x402_vouchers SET state = 'queued', batch = NULL WHERE batch = $1 AND state = 'submitted'");
    let update = update.bind(batch);
    let update = match vault {
        Some(vault) => update.push(concat!(" AND (vault <> $2 OR NOT ", is_unsettled!(), ")")).bind(vault),
        None => update,
    };
    tx.execute(update).await.map(drop)
}

/// What is left in a failed batch.
pub async fn left(tx: &Tx, batch: i64) -> Result<Vec<VoucherKey>, HostError> {
    let select = sql(
        "SELECT payer, nonce FROM x402_vouchers WHERE batch = $1 AND state = 'submitted' ORDER BY created_at, payer, nonce",
    );
    tx.rows(select.bind(batch)).await
}
