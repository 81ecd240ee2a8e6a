//! The row of a payer, by which writes of his vouchers come one after the other, on all gateways.

use plugin_api::{Address, HostError, Query, Tx, sql};

/// Takes the payer's row for the rest of the transaction; returns until when he is refused.
pub async fn take(tx: &Tx, payer: Address) -> Result<i64, HostError> {
    let upsert = sql("INSERT INTO x402_payers (payer, vouchers, refused_until_s) VALUES ($1, 1, 0) \
         ON CONFLICT (payer) DO UPDATE SET vouchers = x402_payers.vouchers + 1 RETURNING refused_until_s");
    tx.one(upsert.bind(payer)).await
}

/// Until when the payer is refused; 0 when he never was.
pub async fn refused_until_s(db: &impl Query, payer: Address) -> Result<i64, HostError> {
    let select = sql("SELECT refused_until_s FROM x402_payers WHERE payer = $1").bind(payer);
    Ok(db.row(select).await?.unwrap_or(0))
}

pub async fn refuse(tx: &Tx, payer: Address, until_s: i64) -> Result<(), HostError> {
    let update = sql("UPDATE x402_payers SET refused_until_s = $2 WHERE payer = $1 AND refused_until_s < $2");
    tx.execute(update.bind((payer, until_s))).await.map(drop)
}
