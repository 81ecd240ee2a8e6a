//! The table of streams.

use crate::model::{
    StreamStatus,
    contracts::{StreamOpened, StreamToppedUp},
};
use plugin_api::{Address, HostError, List, Query, Sql, Tx, Wei, contracts::ChainEvent, sql};

pub const TABLE: &str = "economy_streams";

/// The rows decode as [`crate::model::StreamView`]s without what depends on the time.
const STREAMS: List = List::new(
    TABLE,
    "id, payer, payee, rate_per_sec, deposit, claimed, start_s AS start, stop_s AS stop, cancelled, tx_opened, \
     updated_at_block",
)
.order_by("id DESC");

pub fn streams(payer: Option<Address>, payee: Option<Address>, status: Option<StreamStatus>, now_s: i64) -> List {
    let now_if = |wanted| (status == Some(wanted)).then_some(now_s);
    let total = match (payer, payee, status) {
        (None, None, None) => Some(sql("SELECT cast(sum(row_count) AS BIGINT) FROM economy_streams_counts")),
        (None, None, Some(StreamStatus::Cancelled)) => {
            Some(sql("SELECT row_count FROM economy_streams_counts WHERE cancelled = 1"))
        }
        _ => None,
    };
    STREAMS
        .stored_total(total)
        .filter("payer = {}", payer)
        .filter("payee = {}", payee)
        .filter_if(status == Some(StreamStatus::Cancelled), "cancelled = 1")
        .filter("cancelled = 0 AND stop_s > {}", now_if(StreamStatus::Open))
        .filter("cancelled = 0 AND stop_s <= {}", now_if(StreamStatus::Ended))
}

pub fn insert(event: &ChainEvent<StreamOpened>) -> Sql {
    let StreamOpened { stream_id, payer, payee, rate_per_sec, deposit, start, stop } = event.args;
    sql("INSERT INTO economy_streams \
         (id, payer, payee, rate_per_sec, deposit, claimed, start_s, stop_s, cancelled, tx_opened, updated_at_block) \
         VALUES ($1, $2, $3, $4, $5, '0', $6, $7, 0, $8, $9) ON CONFLICT (id) DO NOTHING")
    .bind((stream_id, payer, payee, rate_per_sec, deposit, start, stop, event.tx, event.block))
}

pub fn set_deposit(event: &ChainEvent<StreamToppedUp>) -> Sql {
    let StreamToppedUp { id, deposit, stop } = event.args;
    sql("UPDATE economy_streams SET deposit = $2, stop_s = $3, updated_at_block = $4 WHERE id = $1").bind((
        id,
        deposit,
        stop,
        event.block,
    ))
}

/// Adds a claim, and ends the stream when it was the last one; returns payer and payee if the stream is indexed.
pub async fn claim(
    tx: &Tx,
    id: i64,
    gross: Wei,
    cancels: bool,
    block: u64,
) -> Result<Option<(Address, Address)>, HostError> {
    let known = sql("SELECT payer, payee, claimed, cancelled FROM economy_streams WHERE id = $1").bind(id);
    let Some((payer, payee, claimed, cancelled)) = tx.row::<(Address, Address, Wei, bool)>(known).await? else {
        return Ok(None);
    };
    let update = sql("UPDATE economy_streams SET claimed = $2, cancelled = $3, updated_at_block = $4 WHERE id = $1")
        .bind((id, claimed.saturating_add(gross), cancelled || cancels, block));
    tx.defer(update)?;
    Ok(Some((payer, payee)))
}
