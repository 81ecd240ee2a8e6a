//! The row of a payer, by which writes of his vouchers come one after the other, on all gateways.

use plugin_api::{Address, HostError, Query, Sql, Tx, sql};

/// Takes the payer's row for the rest of the transaction; its result is until when he is refused.
pub fn take(payer: Address) -> Sql {
    let upsert = sql("INSERT INTO x402_payers (payer, vouchers, refused_until_s) VALUES ($1, 1, 0) \
         ON CONFLICT (payer) DO UPDATE SET vouchers = x402_payers.vouchers + 1 RETURNING refused_until_s");
    upsert.bind(payer)
}

pub async fn refuse(tx: &Tx, payer: Address, until_s: i64) -> Result<(), HostError> {
    let update = sql("UPDATE x402_payers SET refused_until_s = $2 WHERE payer = $1 AND refused_until_s < $2");
    tx.execute(update.bind((payer, until_s))).await.map(drop)
}

/// Refuses the contracts whose vouchers are in the batch.
pub async fn refuse_contracts(tx: &Tx, batch: i64, until_s: i64) -> Result<u64, HostError> {
    let update = sql("UPDATE x402_payers SET refused_until_s = $2 WHERE refused_until_s < $2 \
         AND payer IN (SELECT payer FROM x402_vouchers WHERE batch = $1 AND by_contract = 1)");
    tx.execute(update.bind((batch, until_s))).await
}

/// Notes that a batch would help the payer.
pub async fn want_batch(tx: &Tx, payer: Address) -> Result<(), HostError> {
    let update = sql("UPDATE x402_payers SET wants_batch = 1 WHERE payer = $1 AND wants_batch = 0");
    tx.execute(update.bind(payer)).await.map(drop)
}

/// Whether a batch would help somebody.
pub async fn wants_batch(db: &impl Query) -> Result<bool, HostError> {
    let select = sql("SELECT payer FROM x402_payers WHERE wants_batch = 1 LIMIT 1");
    Ok(db.row::<Address>(select).await?.is_some())
}

/// A batch is made now.
pub async fn forget_wants(tx: &Tx) -> Result<(), HostError> {
    tx.execute(sql("UPDATE x402_payers SET wants_batch = 0 WHERE wants_batch = 1")).await.map(drop)
}
