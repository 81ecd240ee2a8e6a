//! The waitlist's tables. Rule: entries are never deleted.

use crate::model::{Entry, Fields, Platform};
use plugin_api::{Address, HostError, Query, Tx, sql};
use serde::Deserialize;

/// Whether the entry of the address is signed; `None` without an entry.
pub async fn is_signed(db: &impl Query, address: Address) -> Result<Option<bool>, HostError> {
    let find = sql(
        "SELECT CASE WHEN signed_at IS NULL THEN 0 ELSE 1 END AS is_signed FROM validators_entries WHERE address = $1",
    );
    db.row(find.bind(address)).await
}

pub async fn count_entries(db: &impl Query) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM validators_entries")).await
}

/// Inserts an entry, or replaces the unsigned one of its address.
pub async fn put_entry(tx: &Tx, fields: &Fields, is_signed: bool) -> Result<(), HostError> {
    let put =
        sql("INSERT INTO validators_entries (address, platform, seats, contact, contact_kind, consent, created_at, \
         signed_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
         ON CONFLICT (address) DO UPDATE SET platform = excluded.platform, seats = excluded.seats, \
         contact = excluded.contact, contact_kind = excluded.contact_kind, \
         consent = excluded.consent, signed_at = excluded.signed_at")
        .bind(fields.address)
        .bind(fields.platform)
        .bind(fields.seats)
        .bind(fields.contact.as_ref().map(|contact| contact.text.as_str()))
        .bind(fields.contact.as_ref().map(|contact| contact.kind.as_str()))
        .bind(fields.consent)
        .bind(tx.now_s())
        .bind(is_signed.then_some(tx.now_s()));
    tx.execute(put).await.map(drop)
}

/// Number of entries per platform.
#[derive(Deserialize)]
pub struct PlatformCount {
    pub platform: Platform,
    pub entries: i64,
    pub seats: i64,
    pub verified: i64,
}

pub async fn count_by_platform(db: &impl Query) -> Result<Vec<PlatformCount>, HostError> {
    db.rows(sql("SELECT platform, count(*) AS entries, cast(sum(seats) AS BIGINT) AS seats, \
         count(signed_at) AS verified FROM validators_entries GROUP BY platform"))
        .await
}

/// Entries per statement: the gateway limits the size of a result, not of a response.
const ENTRIES_PER_READ: u32 = 20_000;

/// Every entry, oldest first.
pub async fn all_entries(db: &impl Query) -> Result<Vec<Entry>, HostError> {
    let mut entries: Vec<Entry> = Vec::new();
    loop {
        let after = entries.last().map_or(0, |entry| entry.id);
        let read = sql("SELECT id, address, platform, seats, contact, contact_kind, consent, created_at, \
             CASE WHEN signed_at IS NULL THEN 0 ELSE 1 END AS verified, signed_at \
             FROM validators_entries WHERE id > $1 ORDER BY id LIMIT $2");
        let before = entries.len();
        entries.extend(db.rows::<Entry>(read.bind(after).bind(ENTRIES_PER_READ)).await?);
        if entries.len() - before < ENTRIES_PER_READ as usize {
            return Ok(entries);
        }
    }
}

/// Longer than any challenge is valid.
const SIGNATURE_RETENTION_S: i64 = 3600;

/// Marks the signature as used; returns whether it was unused. Its last byte has several encodings and is ignored.
pub async fn mark_used(tx: &Tx, signature: &str) -> Result<bool, HostError> {
    let prune = sql("DELETE FROM validators_signatures WHERE used_at < $1");
    tx.execute(prune.bind(tx.now_s() - SIGNATURE_RETENTION_S)).await?;
    let insert = sql("INSERT INTO validators_signatures (signature, used_at) VALUES ($1, $2) ON CONFLICT DO NOTHING");
    let key = signature.get(..signature.len().saturating_sub(2)).unwrap_or(signature);
    Ok(tx.execute(insert.bind(key).bind(tx.now_s())).await? == 1)
}
