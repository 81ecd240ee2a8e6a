//! Credits: room that was paid for, until it expires.

use plugin_api::{Address, HostError, Query, Sql, payment::Payment, sql};

/// Bytes that are paid for at this time: one row.
pub fn select_live(owner: Address, now_s: i64) -> Sql {
    sql("SELECT cast(coalesce(sum(bytes), 0) AS BIGINT) FROM memory_credits WHERE address = $1 AND expires_at > $2")
        .bind((owner, now_s))
}

/// Bytes that are paid for at this time.
pub async fn live_bytes(db: &impl Query, owner: Address, now_s: i64) -> Result<i64, HostError> {
    db.one(select_live(owner, now_s)).await
}

pub fn insert(owner: Address, bytes: i64, payment: &Payment, now_s: i64, expires_at: i64) -> Sql {
    sql("INSERT INTO memory_credits (address, bytes, created_at, expires_at, payer, nonce) \
         VALUES ($1, $2, $3, $4, $5, $6)")
    .bind((owner, bytes, now_s, expires_at, payment.payer, &payment.nonce))
}

pub fn delete_expired(now_s: i64) -> Sql {
    sql("DELETE FROM memory_credits WHERE expires_at <= $1").bind(now_s)
}
