//! The table of streams.

use super::{Conditions, List, PageRequest};
use crate::model::{Flow, StreamStatus};
use plugin_api::{Address, Hash256, HostError, Query, Tx, Wei, sql};
use serde::Deserialize;

pub const TABLE: &str = "economy_streams";

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StreamRow {
    pub id: i64,
    pub payer: Address,
    pub payee: Address,
    pub rate_per_sec: Wei,
    pub deposit: Wei,
    pub claimed: Wei,
    pub start_s: i64,
    pub stop_s: i64,
    pub cancelled: bool,
    pub tx_opened: Hash256,
    pub updated_at_block: i64,
}

impl StreamRow {
    pub fn flow(&self) -> Flow {
        let Self { rate_per_sec, deposit, claimed, start_s, stop_s, .. } = *self;
        Flow { rate_per_sec, deposit, claimed, start_s, stop_s }
    }
}

/// A new stream.
pub struct NewStream {
    pub id: i64,
    pub payer: Address,
    pub payee: Address,
    pub rate_per_sec: Wei,
    pub deposit: Wei,
    pub start_s: i64,
    pub stop_s: i64,
    pub tx_opened: Hash256,
    pub block: i64,
}

pub fn insert(tx: &Tx, new: NewStream) -> Result<(), HostError> {
    let insert = sql("INSERT INTO economy_streams \
         (id, payer, payee, rate_per_sec, deposit, claimed, start_s, stop_s, cancelled, tx_opened, updated_at_block) \
         VALUES ($1, $2, $3, $4, $5, '0', $6, $7, 0, $8, $9) ON CONFLICT (id) DO NOTHING")
    .bind(new.id)
    .bind(new.payer)
    .bind(new.payee)
    .bind(new.rate_per_sec)
    .bind(new.deposit)
    .bind(new.start_s)
    .bind(new.stop_s)
    .bind(new.tx_opened)
    .bind(new.block);
    tx.defer(insert)
}

pub fn set_deposit(tx: &Tx, id: i64, deposit: Wei, stop_s: i64, block: i64) -> Result<(), HostError> {
    let update =
        sql("UPDATE economy_streams SET deposit = $2, stop_s = $3, updated_at_block = $4 WHERE id = $1").bind(id);
    tx.defer(update.bind(deposit).bind(stop_s).bind(block))
}

#[derive(Deserialize)]
struct Claim {
    payer: Address,
    payee: Address,
    claimed: Wei,
    cancelled: bool,
}

/// Adds a claim, and ends the stream when it was the last one; returns payer and payee if the stream is indexed.
pub async fn claim(
    tx: &Tx,
    id: i64,
    gross: Wei,
    cancels: bool,
    block: i64,
) -> Result<Option<(Address, Address)>, HostError> {
    let known = sql("SELECT payer, payee, claimed, cancelled FROM economy_streams WHERE id = $1").bind(id);
    let Some(Claim { payer, payee, claimed, cancelled }) = tx.row(known).await? else { return Ok(None) };
    let update = sql("UPDATE economy_streams SET claimed = $2, cancelled = $3, updated_at_block = $4 WHERE id = $1")
        .bind(id)
        .bind(claimed.saturating_add(gross))
        .bind(cancelled || cancels)
        .bind(block);
    tx.defer(update)?;
    Ok(Some((payer, payee)))
}

/// Selects streams.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    pub payer: Option<Address>,
    pub payee: Option<Address>,
    pub status: Option<StreamStatus>,
}

const LIST: List = List {
    columns: "id, payer, payee, rate_per_sec, deposit, claimed, start_s, stop_s, cancelled, tx_opened, updated_at_block",
    from: TABLE,
    table: TABLE,
    order: "id DESC",
};

pub async fn list(
    db: &impl Query,
    filter: Filter,
    now_s: i64,
    window: PageRequest,
) -> Result<(Vec<StreamRow>, i64), HostError> {
    let of_parties = Conditions::default().and_if("payer = {}", filter.payer).and_if("payee = {}", filter.payee);
    let conditions = match filter.status {
        None => of_parties,
        Some(StreamStatus::Cancelled) => of_parties.and("cancelled = {}", true),
        Some(StreamStatus::Open) => of_parties.and("cancelled = 0 AND stop_s > {}", now_s),
        Some(StreamStatus::Ended) => of_parties.and("cancelled = 0 AND stop_s <= {}", now_s),
    };
    LIST.read(db, &conditions, window).await
}

pub async fn count_open(db: &impl Query, now_s: i64) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM economy_streams WHERE cancelled = 0 AND stop_s > $1").bind(now_s)).await
}
