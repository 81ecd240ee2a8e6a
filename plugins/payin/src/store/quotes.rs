//! Quotes. Rule: an amount belongs to one quote while a deposit could match it, and to the end of its grace whatever became of it, by the
//! unique `open_key`; a status changes by [`set_status`] alone, which checks where the quote was and writes the history.

use super::history;
use crate::model::{GRACE_S, NATIVE, Quote, Status, Units};
use plugin_api::{Address, Hash256, HostError, Query, Sql, Tx, Wei, sql};
use serde::Deserialize;

const COLUMNS: &str = "q.id, q.chain, q.asset, q.token, q.decimals, q.deposit_address, q.recipient, q.payer, q.network, q.requested, \
     q.send, q.asset_usd, q.usd, q.price, q.spread_bps, q.fmx_out, q.position, q.required, q.status, q.deposit, q.confirmations, q.error, q.attempt, \
     q.intent, q.tx_out, q.nonce, q.is_mined, q.created_at, q.expires_at, q.seen_at, q.paid_at, d.tx AS tx_in, d.block AS block_in, \
     d.units AS units_in, CASE WHEN q.open_key IS NULL THEN 0 ELSE 1 END AS is_open, q.address_index";

/// Quotes with the places of their deposits; `rest` selects and orders.
fn select(rest: &str) -> Sql {
    sql(format!("SELECT {COLUMNS} FROM payin_quotes q LEFT JOIN payin_deposits d ON d.id = q.deposit {rest}"))
}

pub async fn find(db: &impl Query, id: &str) -> Result<Option<Quote>, HostError> {
    db.row(select("WHERE q.id = $1").bind(id)).await
}

/// Amounts between two that no new quote may have, in order. They are read from what they are selected by, so that a quote of which another
/// column cannot be read still has its amount.
pub async fn taken(
    tx: &Tx,
    (chain, token): (&str, Address),
    (least, most): (Units, Units),
) -> Result<Vec<Units>, HostError> {
    let select = "SELECT send_key FROM payin_quotes WHERE chain = $1 AND token = $2 AND send_key BETWEEN $3 AND $4 \
         AND open_key IS NOT NULL AND address_index IS NULL ORDER BY send_key";
    let keys: Vec<String> = tx.rows(sql(select).bind((chain, token, least.sort_key(), most.sort_key()))).await?;
    Ok(keys.iter().filter_map(|key| key.trim_start_matches('0').parse().ok()).collect())
}

/// Stores a quote that is new; returns false when another one has its amount, or its address.
pub async fn insert(tx: &Tx, quote: &Quote, site: Option<&str>) -> Result<bool, HostError> {
    let insert = "INSERT INTO payin_quotes (id, chain, asset, token, decimals, deposit_address, recipient, payer, network, requested, \
         send, send_key, usd, usd_micro, price, spread_bps, fmx_out, quoted_out, position, required, status, open_key, confirmations, retry_at, \
         attempt, is_mined, created_at, expires_at, asset_usd, site, address_index) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $17, $18, $19, $20, $21, 0, 0, 1, 0, $22, $23, $24, $25, $26) \
         ON CONFLICT (open_key) DO NOTHING";
    // By token, which keeps its address when an operator gives it another symbol.
    let open_key = match quote.address_index {
        None => format!("{} {} {}", quote.chain, quote.token, quote.send),
        Some(_) => format!("{} {}", quote.chain, quote.deposit_address),
    };
    let insert = sql(insert)
        .bind((&*quote.id, &*quote.chain, &*quote.asset, quote.token, quote.decimals, quote.deposit_address))
        .bind((quote.recipient, quote.payer, &*quote.network, quote.requested, quote.send, quote.send.sort_key()))
        .bind((quote.usd, crate::model::in_micro(quote.usd), quote.price, quote.spread_bps, quote.fmx_out))
        .bind((quote.position, quote.required, quote.status, open_key, quote.created_at, quote.expires_at))
        .bind((quote.asset_usd, site, quote.address_index));
    if tx.execute(insert).await? == 0 {
        return Ok(false);
    }
    let detail = format!("{} {} for {} wei", quote.send, quote.asset, quote.fmx_out);
    history::insert(tx, &quote.id, quote.status, &detail).await?;
    Ok(true)
}

/// How many are open, and of what value.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Open {
    /// For this recipient, of this network: others may ask for him as well, and do not refuse him his own.
    pub recipient: i64,
    /// For this recipient, of all networks.
    pub recipient_of_all: i64,
    pub network: i64,
    /// Of the /48 of this network.
    pub site: i64,
    pub usd_micro: i64,
    /// Of this network.
    pub network_usd_micro: i64,
    pub site_usd_micro: i64,
}

/// Those whose grace is over count no more, though the scan of their chain may be behind. Their USD are counted once for a payer who has asked
/// again: the quote that he means.
pub async fn open(
    db: &impl Query,
    recipient: Address,
    (network, site): (&str, Option<&str>),
    now_s: i64,
) -> Result<Open, HostError> {
    let open = "FROM payin_quotes WHERE status IN ('quoted', 'superseded') AND expires_at >= $4";
    let meant = "FROM payin_quotes WHERE status = 'quoted' AND expires_at >= $4";
    let (count, sum) = ("SELECT count(*)", "SELECT cast(coalesce(sum(usd_micro), 0) AS BIGINT)");
    let select = format!(
        "SELECT ({count} {open} AND network = $2 AND recipient = $1) AS recipient, \
         ({count} {open} AND recipient = $1) AS recipient_of_all, ({count} {open} AND network = $2) AS network, \
         ({count} {open} AND site = $3) AS site, ({sum} {meant}) AS usd_micro, \
         ({sum} {meant} AND network = $2) AS network_usd_micro, ({sum} {meant} AND site = $3) AS site_usd_micro"
    );
    db.one(sql(select).bind((recipient, network, site, now_s - GRACE_S))).await
}

/// Marks older quotes of the same payer for the same recipient. They keep their amounts.
pub async fn supersede(tx: &Tx, quote: &Quote) -> Result<(), HostError> {
    let Some(payer) = quote.payer else { return Ok(()) };
    let select = "SELECT id FROM payin_quotes WHERE recipient = $1 AND payer = $2 AND chain = $3 AND asset = $4 AND status = 'quoted' \
         AND id <> $5 ORDER BY id";
    let select = sql(select).bind((quote.recipient, payer, &*quote.chain, &*quote.asset, &*quote.id));
    let older: Vec<String> = tx.rows(select).await?;
    for id in older {
        set_status(tx, &id, Status::Quoted, Status::Superseded, &format!("by {}", quote.id)).await?;
    }
    Ok(())
}

/// Moves a quote from one status to another, with a row of its history; returns false when it is not there.
pub async fn set_status(tx: &Tx, id: &str, from: Status, to: Status, detail: &str) -> Result<bool, HostError> {
    let is_over = matches!(to, Status::Paid | Status::Expired | Status::Failed);
    // One that was paid or has failed keeps its amount until `free_amounts`: its payer may send it twice.
    let open_key = if to == Status::Expired { "NULL" } else { "open_key" };
    let update = format!(
        "UPDATE payin_quotes SET status = $3, ended_at = $4, open_key = {open_key} WHERE id = $1 AND status = $2"
    );
    if tx.execute(sql(update).bind((id, from, to, is_over.then(|| tx.now_s())))).await? == 0 {
        return Ok(false);
    }
    history::insert(tx, id, to, detail).await?;
    Ok(true)
}

/// The quotes that a transfer of this amount, in this block, could be for; two at most, since two are as bad as many.
pub async fn candidates(
    tx: &Tx,
    (chain, token, units): (&str, Address, Units),
    (block, block_time): (i64, i64),
) -> Result<Vec<Quote>, HostError> {
    let rest = "WHERE q.chain = $1 AND q.token = $2 AND q.send_key = $3 AND q.status IN ('quoted', 'superseded') AND q.address_index IS NULL \
         AND q.position < $4 AND q.expires_at >= $5 ORDER BY q.created_at, q.id LIMIT 2";
    tx.rows(select(rest).bind((chain, token, units.sort_key(), block, block_time - GRACE_S))).await
}

/// Gives a quote its deposit, and reserves the coins that this one buys.
pub async fn set_deposit(tx: &Tx, id: &str, deposit: i64, coins: Wei) -> Result<(), HostError> {
    let update = "UPDATE payin_quotes SET deposit = $2, fmx_out = $3, seen_at = $4, error = NULL, retry_at = 0, confirmations = 0 \
         WHERE id = $1";
    tx.execute(sql(update).bind((id, deposit, coins, tx.now_s()))).await.map(drop)
}

/// Takes its deposit, and the coins of that, from a quote for which nothing is recorded yet.
pub async fn clear_deposit(tx: &Tx, id: &str, error: &str) -> Result<(), HostError> {
    let update = "UPDATE payin_quotes SET deposit = NULL, fmx_out = quoted_out, seen_at = NULL, confirmations = 0, error = $2 \
         WHERE id = $1 AND intent IS NULL";
    tx.execute(sql(update).bind((id, error))).await.map(drop)
}

pub async fn set_confirmations(tx: &Tx, id: &str, confirmations: i64) -> Result<(), HostError> {
    let update = "UPDATE payin_quotes SET confirmations = $2 WHERE id = $1";
    tx.execute(sql(update).bind((id, confirmations))).await.map(drop)
}

/// Ids of those whose grace the scan of the chain has passed, and for which no deposit waits to be matched.
pub async fn lapsed(db: &impl Query, chain: &str, safe_time: i64, limit: u32) -> Result<Vec<String>, HostError> {
    let select = "SELECT q.id FROM payin_quotes q WHERE q.chain = $1 AND q.status IN ('quoted', 'superseded') AND q.expires_at < $2 \
         AND NOT EXISTS (SELECT 1 FROM payin_deposits n WHERE n.chain = q.chain AND n.token = q.token AND n.state = 'new' \
             AND (q.address_index IS NULL AND n.units_key = q.send_key \
                 OR q.address_index IS NOT NULL AND n.address = q.deposit_address)) ORDER BY q.expires_at, q.id LIMIT $3";
    db.rows(sql(select).bind((chain, safe_time - GRACE_S, limit))).await
}

/// Frees the amounts of those that were paid, or have failed, and whose grace the scan of the chain has passed.
pub async fn free_amounts(tx: &Tx, chain: &str, safe_time: i64) -> Result<(), HostError> {
    let update = "UPDATE payin_quotes SET open_key = NULL WHERE chain = $1 AND expires_at < $2 AND open_key IS NOT NULL AND ended_at IS NOT NULL";
    tx.execute(sql(update).bind((chain, safe_time - GRACE_S))).await.map(drop)
}

/// Those that expired before this time without a deposit.
const OLD: &str = "FROM payin_quotes WHERE status = 'expired' AND deposit IS NULL AND ended_at < $1";

pub async fn are_old(db: &impl Query, before_s: i64) -> Result<bool, HostError> {
    let old: i64 = db.one(sql(format!("SELECT count(*) FROM (SELECT 1 {OLD} LIMIT 1) AS one")).bind(before_s)).await?;
    Ok(old > 0)
}

/// Deletes old ones, with their histories.
pub async fn delete_old(tx: &Tx, before_s: i64, limit: u32) -> Result<(), HostError> {
    let ids = format!("(SELECT id {OLD} ORDER BY ended_at, id LIMIT $2)");
    let (histories, quotes) = ("DELETE FROM payin_history WHERE quote IN", "DELETE FROM payin_quotes WHERE id IN");
    tx.execute(sql(format!("{histories} {ids}")).bind((before_s, limit))).await?;
    tx.execute(sql(format!("{quotes} {ids}")).bind((before_s, limit))).await.map(drop)
}

/// A deposit that is to be looked up.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct FollowedDeposit {
    pub quote: String,
    pub status: Status,
    pub deposit: i64,
    pub found_at: i64,
}

/// Of quotes of a chain for which no payout is recorded: seen ones, and confirmed ones that were looked up before this time; those first that were
/// looked up longest ago. The last look before a payout is that of the job that pays.
pub async fn unpaid(
    db: &impl Query,
    chain: &str,
    before_s: i64,
    limit: u32,
) -> Result<Vec<FollowedDeposit>, HostError> {
    let select = "SELECT q.id AS quote, q.status, d.id AS deposit, d.found_at FROM payin_quotes q JOIN payin_deposits d ON d.id = q.deposit \
         WHERE q.chain = $1 AND (q.status = 'seen' OR q.status = 'confirmed' AND d.seen_at <= $2) AND q.intent IS NULL \
         ORDER BY d.seen_at, q.id LIMIT $3";
    db.rows(sql(select).bind((chain, before_s, limit))).await
}

/// Ids of confirmed ones that may be paid now, the oldest first.
pub async fn payable(db: &impl Query, now_s: i64, limit: u32) -> Result<Vec<String>, HostError> {
    let select = "SELECT id FROM payin_quotes WHERE status = 'confirmed' AND intent IS NULL AND retry_at <= $1 \
         ORDER BY retry_at, seen_at, id LIMIT $2";
    db.rows(sql(select).bind((now_s, limit))).await
}

/// Says of a confirmed quote why it is not paid, and when to try again.
pub async fn hold(tx: &Tx, id: &str, reason: &str, retry_at: i64) -> Result<(), HostError> {
    let update =
        "UPDATE payin_quotes SET error = $2, retry_at = $3 WHERE id = $1 AND status = 'confirmed' AND intent IS NULL";
    tx.execute(sql(update).bind((id, reason, retry_at))).await.map(drop)
}

/// Notes the intent of a confirmed quote that has none, which the caps count now; returns false otherwise.
pub async fn set_intent(tx: &Tx, id: &str, attempt: i64, intent: i64) -> Result<bool, HostError> {
    let update = "UPDATE payin_quotes SET intent = $3, error = NULL, counted_at = $4 WHERE id = $1 AND attempt = $2 \
         AND status = 'confirmed' AND intent IS NULL";
    Ok(tx.execute(sql(update).bind((id, attempt, intent, tx.now_s()))).await? > 0)
}

/// Ids of those whose payout is recorded and not final.
pub async fn sent(db: &impl Query, limit: u32) -> Result<Vec<String>, HostError> {
    let select = "SELECT id FROM payin_quotes WHERE status = 'confirmed' AND intent IS NOT NULL ORDER BY id LIMIT $1";
    db.rows(sql(select).bind(limit)).await
}

/// A token, and an address to which quotes have deposits of it sent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Destination {
    pub asset: String,
    pub token: String,
    pub decimals: i64,
    pub deposit_address: String,
    /// Whether it is the address of one quote.
    pub is_own: bool,
}

/// How many quotes of a chain with addresses of their own wait for a deposit. One that is held back after its deposit takes nobody's place.
pub async fn open_own(tx: &Tx, chain: &str) -> Result<i64, HostError> {
    let select = "SELECT count(*) FROM payin_quotes WHERE chain = $1 AND address_index IS NOT NULL AND ended_at IS NULL AND deposit IS NULL";
    tx.one(sql(select).bind(chain)).await
}

/// Where deposits could come for quotes of a chain that are open, or ended after this time. Of those with addresses of their own: while they
/// are open, and a day after a payout, whose deposit may move.
pub async fn destinations(
    db: &impl Query,
    chain: &str,
    (since_s, paid_since_s): (i64, i64),
) -> Result<Vec<Destination>, HostError> {
    let select = "SELECT DISTINCT asset, token, decimals, deposit_address, CASE WHEN address_index IS NULL THEN 0 ELSE 1 END AS is_own FROM payin_quotes WHERE chain = $1 \
         AND (ended_at IS NULL OR address_index IS NULL AND ended_at >= $2 \
             OR address_index IS NOT NULL AND deposit IS NOT NULL AND ended_at >= $3) ORDER BY asset, token, deposit_address, decimals";
    db.rows(sql(select).bind((chain, since_s, paid_since_s))).await
}

/// Own addresses of open quotes of other chains, or of those that were paid after this time: wallets have the same addresses on every chain.
pub async fn own_elsewhere(db: &impl Query, chain: &str, paid_since_s: i64) -> Result<Vec<String>, HostError> {
    let select = "SELECT deposit_address FROM payin_quotes WHERE chain <> $1 AND address_index IS NOT NULL \
         AND (ended_at IS NULL OR deposit IS NOT NULL AND ended_at >= $2) ORDER BY deposit_address";
    db.rows(sql(select).bind((chain, paid_since_s))).await
}

/// What quotes of a chain's own coins call these, where they have them sent, and the smallest amount, while a deposit could match one.
pub async fn native_destinations(db: &impl Query, chain: &str) -> Result<Vec<(String, String, String)>, HostError> {
    let select = "SELECT asset, deposit_address, min(send_key) FROM payin_quotes WHERE chain = $1 AND token = $2 \
         AND status IN ('quoted', 'superseded') GROUP BY asset, deposit_address ORDER BY asset, deposit_address";
    db.rows(sql(select).bind((chain, NATIVE))).await
}

/// Notes the transaction that was signed last, or the one that is in a block now.
pub async fn note_progress(
    tx: &Tx,
    quote: &Quote,
    (hash, nonce): (Option<Hash256>, Option<i64>),
    is_mined: bool,
) -> Result<(), HostError> {
    let update = "UPDATE payin_quotes SET tx_out = $3, nonce = $4, is_mined = $5 WHERE id = $1 AND intent = $2";
    tx.execute(sql(update).bind((&*quote.id, quote.intent, hash, nonce, is_mined))).await.map(drop)
}

/// Marks a quote as paid; returns false when it is already.
pub async fn set_paid(tx: &Tx, quote: &Quote, detail: &str) -> Result<bool, HostError> {
    if !set_status(tx, &quote.id, Status::Confirmed, Status::Paid, detail).await? {
        return Ok(false);
    }
    let update = "UPDATE payin_quotes SET paid_at = $2, error = NULL, is_mined = 1 WHERE id = $1";
    tx.execute(sql(update).bind((&*quote.id, tx.now_s()))).await?;
    Ok(true)
}

/// Has a payout that was never carried out recorded again, with another key, from this time on. Returns when the caps counted it, which do
/// not any more.
pub async fn repeat(tx: &Tx, quote: &Quote, reason: &str, retry_at: i64) -> Result<Option<i64>, HostError> {
    let select = "SELECT counted_at FROM payin_quotes WHERE id = $1 AND intent = $2 AND status = 'confirmed'";
    let counted: Option<(Option<i64>,)> = tx.row(sql(select).bind((&*quote.id, quote.intent))).await?;
    let Some((counted_at,)) = counted else { return Ok(None) };
    let update = "UPDATE payin_quotes SET intent = NULL, tx_out = NULL, nonce = NULL, is_mined = 0, attempt = attempt + 1, error = $2, \
         retry_at = $3, counted_at = NULL WHERE id = $1";
    tx.execute(sql(update).bind((&*quote.id, reason, retry_at))).await?;
    Ok(counted_at)
}

/// Ends a quote whose payout reverted in a block.
pub async fn set_failed(tx: &Tx, quote: &Quote, reason: &str) -> Result<bool, HostError> {
    let is_failed = set_status(tx, &quote.id, Status::Confirmed, Status::Failed, reason).await?;
    if is_failed {
        tx.execute(sql("UPDATE payin_quotes SET error = $2 WHERE id = $1").bind((&*quote.id, reason))).await?;
    }
    Ok(is_failed)
}

/// Ends a quote whose deposit an operator takes from it; returns false when it has none, or a payout is recorded.
pub async fn end_unpaid(tx: &Tx, quote: &Quote, detail: &str) -> Result<bool, HostError> {
    let may_end = matches!(quote.status, Status::Seen | Status::Confirmed) && quote.intent.is_none();
    if !may_end || !set_status(tx, &quote.id, quote.status, Status::Failed, detail).await? {
        return Ok(false);
    }
    clear_deposit(tx, &quote.id, "the operator has ended it").await?;
    Ok(true)
}

/// Coins that are promised to deposits and not paid: of seen and confirmed quotes.
pub async fn reserved(db: &impl Query) -> Result<Wei, HostError> {
    let select = "SELECT fmx_out FROM payin_quotes WHERE status IN ('seen', 'confirmed') AND is_mined = 0";
    Ok(sum(db.rows(sql(select)).await?))
}

/// What the payouts that are recorded and in no block take from the key's account.
pub async fn outstanding(db: &impl Query) -> Result<Wei, HostError> {
    let select = "SELECT fmx_out FROM payin_quotes WHERE status = 'confirmed' AND intent IS NOT NULL AND is_mined = 0";
    Ok(sum(db.rows(sql(select)).await?))
}

/// An amount that cannot be read is left out: its quote is held back alone.
fn sum(amounts: Vec<String>) -> Wei {
    amounts.iter().filter_map(|amount| amount.parse().ok()).fold(Wei::ZERO, Wei::saturating_add)
}

pub async fn count_paid(db: &impl Query) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM payin_quotes WHERE status = 'paid'")).await
}

/// Numbers for the status.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Numbers {
    pub open: i64,
    pub paid: i64,
    pub held: i64,
    /// In their blocks; those that an operator ended are none.
    pub failed: i64,
    pub unmatched: i64,
    pub lost: i64,
}

pub async fn numbers(db: &impl Query, since_s: i64) -> Result<Numbers, HostError> {
    let select = "SELECT \
         (SELECT count(*) FROM payin_quotes WHERE status IN ('quoted', 'seen')) AS open, \
         (SELECT count(*) FROM payin_quotes WHERE status = 'paid') AS paid, \
         (SELECT count(*) FROM payin_quotes WHERE status = 'confirmed' AND error IS NOT NULL) AS held, \
         (SELECT count(*) FROM payin_quotes WHERE status = 'failed' AND intent IS NOT NULL) AS failed, \
         (SELECT count(*) FROM payin_deposits WHERE state = 'unmatched' AND found_at >= $1) AS unmatched, \
         (SELECT count(*) FROM payin_deposits WHERE lost_at IS NOT NULL) AS lost";
    db.one(sql(select).bind(since_s)).await
}
