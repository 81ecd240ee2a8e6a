//! The waitlist's tables. Rule: entries are never deleted.

use crate::model::{Entry, Fields, Platform};
use plugin_api::{Address, HostError, Query, Tx, sql};
use serde::Deserialize;

/// When the entry of the address was added, and whether it is signed.
#[derive(Deserialize)]
pub struct KnownEntry {
    pub created_at: i64,
    pub is_signed: bool,
}

pub async fn find_entry(db: &impl Query, address: Address) -> Result<Option<KnownEntry>, HostError> {
    let find = sql("SELECT created_at, CASE WHEN signed_at IS NULL THEN 0 ELSE 1 END AS is_signed \
         FROM validators_entries WHERE address = $1");
    db.row(find.bind(address)).await
}

const SIGNUP_WINDOW_S: i64 = 3600;

/// Seconds until this client may add an entry; `None` when it may now.
pub async fn signup_wait(db: &impl Query, client: &str, per_hour: u32, now_s: i64) -> Result<Option<i64>, HostError> {
    // The entry that has to be older than the window: with it the client has as many as it may.
    let find =
        sql("SELECT at_s FROM validators_signups WHERE client = $1 AND at_s > $2 ORDER BY at_s DESC LIMIT 1 OFFSET $3");
    let blocking: Option<i64> =
        db.row(find.bind(client).bind(now_s - SIGNUP_WINDOW_S).bind(i64::from(per_hour) - 1)).await?;
    Ok(blocking.map(|at_s| (at_s + SIGNUP_WINDOW_S - now_s).max(1)))
}

/// Counts a new entry of the client.
pub async fn count_signup(tx: &Tx, client: &str) -> Result<(), HostError> {
    tx.defer(sql("DELETE FROM validators_signups WHERE at_s <= $1").bind(tx.now_s() - SIGNUP_WINDOW_S))?;
    let insert = sql("INSERT INTO validators_signups (client, at_s) VALUES ($1, $2)");
    tx.defer(insert.bind(client).bind(tx.now_s()))
}

pub async fn count_entries(db: &impl Query) -> Result<i64, HostError> {
    db.one(sql("SELECT cast(coalesce(sum(row_count), 0) AS BIGINT) FROM validators_entries_counts")).await
}

/// Inserts an entry, or replaces the unsigned one of its address.
pub async fn put_entry(tx: &Tx, fields: &Fields, is_signed: bool) -> Result<(), HostError> {
    let put =
        sql("INSERT INTO validators_entries (address, platform, seats, contact, contact_kind, consent, created_at, \
         signed_at, is_signed) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
         ON CONFLICT (address) DO UPDATE SET platform = excluded.platform, seats = excluded.seats, \
         contact = excluded.contact, contact_kind = excluded.contact_kind, \
         consent = excluded.consent, signed_at = excluded.signed_at, is_signed = excluded.is_signed")
        .bind((fields.address, fields.platform, fields.seats))
        .bind(fields.contact.as_ref().map(|contact| contact.text.as_str()))
        .bind((fields.contact.as_ref().map(|contact| contact.kind), fields.consent, tx.now_s()))
        .bind((is_signed.then_some(tx.now_s()), is_signed));
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
    db.rows(sql("SELECT platform, cast(sum(row_count) AS BIGINT) AS entries, \
         cast(sum(row_count * seats) AS BIGINT) AS seats, cast(sum(row_count * is_signed) AS BIGINT) AS verified \
         FROM validators_entries_counts GROUP BY platform"))
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
        entries.extend(db.rows::<Entry>(read.bind((after, ENTRIES_PER_READ))).await?);
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
    Ok(tx.execute(insert.bind((key, tx.now_s()))).await? == 1)
}
