//! Entries of the waitlist.

use crate::model::{ContactKind, Fields, Platform};
use plugin_api::{Address, HostError, Query, Tx, sql};
use serde::Deserialize;

/// The entry of an address, as far as it matters for a sign-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct ExistingEntry {
    pub is_signed: bool,
}

pub async fn find(db: &impl Query, address: Address) -> Result<Option<ExistingEntry>, HostError> {
    let find = sql("SELECT CASE WHEN signed_at IS NULL THEN 0 ELSE 1 END AS is_signed FROM validators_entries \
         WHERE address = $1");
    db.row(find.bind(address)).await
}

pub async fn count(db: &impl Query) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM validators_entries")).await
}

/// Inserts an entry, or replaces the unsigned one of its address.
pub async fn put(tx: &Tx, fields: &Fields, is_signed: bool, now_s: i64) -> Result<(), HostError> {
    let put =
        sql("INSERT INTO validators_entries (address, platform, seats, contact, contact_kind, consent, created_at, \
         signed_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
         ON CONFLICT (address) DO UPDATE SET platform = excluded.platform, seats = excluded.seats, \
         contact = excluded.contact, contact_kind = excluded.contact_kind, \
         consent = excluded.consent, signed_at = excluded.signed_at");
    let put = put
        .bind(fields.address)
        .bind(fields.platform)
        .bind(fields.seats)
        .bind(fields.contact.as_ref().map(|contact| contact.text.as_str()))
        .bind(fields.contact.as_ref().map(|contact| contact.kind.as_str()))
        .bind(fields.consent)
        .bind(now_s)
        .bind(is_signed.then_some(now_s));
    tx.execute(put).await.map(drop)
}

/// Number of entries per platform.
#[derive(Clone, Copy, Debug, Deserialize)]
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

/// An entry for the operators' export.
#[derive(Clone, Debug, Deserialize)]
pub struct EntryRow {
    pub id: i64,
    pub address: Address,
    pub platform: Platform,
    pub seats: i64,
    pub contact: Option<String>,
    pub contact_kind: Option<ContactKind>,
    pub consent: bool,
    pub created_at: i64,
    pub signed_at: Option<i64>,
}

/// Entries per statement: the gateway limits the size of a result, not of a response.
const ENTRIES_PER_READ: usize = 20_000;

/// Every entry, oldest first.
pub async fn all(db: &impl Query) -> Result<Vec<EntryRow>, HostError> {
    let mut entries: Vec<EntryRow> = Vec::new();
    loop {
        let after = entries.last().map_or(0, |entry| entry.id);
        let read = sql("SELECT id, address, platform, seats, contact, contact_kind, consent, created_at, signed_at \
             FROM validators_entries WHERE id > $1 ORDER BY id LIMIT $2");
        let limit = u32::try_from(ENTRIES_PER_READ).unwrap_or(u32::MAX);
        let some: Vec<EntryRow> = db.rows(read.bind(after).bind(limit)).await?;
        let is_last = some.len() < ENTRIES_PER_READ;
        entries.extend(some);
        if is_last {
            return Ok(entries);
        }
    }
}
