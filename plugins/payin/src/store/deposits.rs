//! Deposits: one row for the life of a transfer, whatever block its transaction moves to. So one that was paid for is never found again as
//! another.

use super::quotes::{self, FollowedDeposit};
use crate::model::{Deposit, DepositState, FoundTransfer, Quote, Status};
use plugin_api::{Address, Hash256, HostError, HostErrorCode, List, Query, Tx, sql};
use std::collections::{BTreeMap, BTreeSet};

const COLUMNS: &str = "id, chain, asset, token, address, tx, ordinal, log_index, block, block_hash, block_time, sender, units, decimals, state, reason, quote, \
     checks, lost_at, found_at";

/// As the block of a transaction that is in none.
const NO_BLOCK: i64 = -1;

/// All deposits, the newest first.
pub const DEPOSITS: List = List::new("payin_deposits", COLUMNS).order_by("id DESC");

pub async fn find(db: &impl Query, id: i64) -> Result<Option<Deposit>, HostError> {
    db.row(sql(format!("SELECT {COLUMNS} FROM payin_deposits WHERE id = $1")).bind(id)).await
}

async fn find_transfer(tx: &Tx, chain: &str, found: &FoundTransfer) -> Result<Option<Deposit>, HostError> {
    let select = format!(
        "SELECT {COLUMNS} FROM payin_deposits WHERE chain = $1 AND token = $2 AND address = $3 AND tx = $4 AND ordinal = $5"
    );
    tx.row(sql(select).bind((chain, found.token, found.address, found.tx, found.ordinal))).await
}

/// Stores transfers that are new, and notes that others are in other blocks now. Returns why some are left out: their rows, or those of their quotes,
/// cannot be read.
pub async fn note_all(
    tx: &Tx,
    chain: &str,
    found: &[FoundTransfer],
    decimals: &BTreeMap<Address, u8>,
) -> Result<Vec<String>, HostError> {
    let (known, mut unreadable) = (known(tx, chain, found).await?, Vec::new());
    for transfer in found {
        if known.contains(&place(transfer)) {
            continue;
        }
        match note(tx, chain, transfer, decimals.get(&transfer.token).copied()).await {
            // It is read before anything is written.
            Err(error) if error.is(HostErrorCode::Statement) => unreadable.push(format!("{}: {error}", transfer.tx)),
            outcome => outcome?,
        }
    }
    Ok(unreadable)
}

/// Which transfer, and where it is: token, address, transaction, ordinal, index of the log, hash of the block.
type TransferPlace = (String, String, String, i64, i64, String);

fn place(found: &FoundTransfer) -> TransferPlace {
    let (token, address, tx) = (found.token.to_string(), found.address.to_string(), found.tx.to_string());
    (token, address, tx, found.ordinal, found.log_index, found.block_hash.to_string())
}

/// Stored transfers in the blocks of these.
async fn known(tx: &Tx, chain: &str, found: &[FoundTransfer]) -> Result<BTreeSet<TransferPlace>, HostError> {
    let blocks = || found.iter().map(|transfer| transfer.block);
    let (Some(first), Some(last)) = (blocks().min(), blocks().max()) else { return Ok(BTreeSet::new()) };
    let select = "SELECT token, address, tx, ordinal, log_index, block_hash FROM payin_deposits \
         WHERE state IN ('new', 'matched', 'unmatched', 'dismissed') AND chain = $1 AND block BETWEEN $2 AND $3";
    let rows: Vec<TransferPlace> = tx.rows(sql(select).bind((chain, first, last))).await?;
    Ok(rows.into_iter().collect())
}

/// Stores a transfer that is new, or notes that one is in another block now.
async fn note(tx: &Tx, chain: &str, found: &FoundTransfer, decimals: Option<u8>) -> Result<(), HostError> {
    let Some(known) = find_transfer(tx, chain, found).await? else {
        let insert = "INSERT INTO payin_deposits (chain, asset, token, address, tx, ordinal, log_index, block, block_hash, block_time, sender, units, \
             units_key, state, checks, check_at, seen_at, found_at, decimals) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'new', 0, 0, $14, $14, $15)";
        let insert = sql(insert)
            .bind((chain, &*found.asset, found.token, found.address, found.tx, found.ordinal, found.log_index))
            .bind((
                found.block,
                found.block_hash,
                found.block_time,
                found.sender,
                found.units,
                found.units.sort_key(),
                tx.now_s(),
                decimals,
            ));
        return tx.execute(insert).await.map(drop);
    };
    let is_same = (known.block_hash, known.log_index) == (found.block_hash, found.log_index);
    if is_same && known.state != DepositState::Gone {
        return Ok(());
    }
    if is_paid(tx, &known).await? {
        return move_paid(tx, &known, found).await;
    }
    if known.state == DepositState::Dismissed {
        return Ok(());
    }
    release(tx, &known, "its deposit moved to another block").await?;
    let update = "UPDATE payin_deposits SET log_index = $2, block = $3, block_hash = $4, block_time = $5, sender = $6, units = $7, \
         units_key = $8, state = 'new', reason = NULL, quote = NULL, checks = 0, check_at = 0, seen_at = $9, \
         lost_at = NULL, lost_in = NULL WHERE id = $1";
    let update = sql(update)
        .bind((known.id, found.log_index, found.block, found.block_hash, found.block_time, found.sender, found.units))
        .bind((found.units.sort_key(), tx.now_s()));
    tx.execute(update).await.map(drop)
}

/// Whether a payout is recorded for it.
async fn is_paid(tx: &Tx, deposit: &Deposit) -> Result<bool, HostError> {
    let Some(quote) = &deposit.quote else { return Ok(false) };
    let quote = quotes::find(tx, quote).await?;
    Ok(quote.is_some_and(|quote| {
        quote.deposit == Some(deposit.id) && (quote.intent.is_some() || quote.status == Status::Failed)
    }))
}

/// A deposit that was paid for stays that of its quote.
async fn move_paid(tx: &Tx, known: &Deposit, found: &FoundTransfer) -> Result<(), HostError> {
    if found.units != known.units {
        return Ok(());
    }
    let update = "UPDATE payin_deposits SET log_index = $2, block = $3, block_hash = $4, block_time = $5, state = 'matched', \
         lost_at = NULL, lost_in = NULL, seen_at = $6 WHERE id = $1";
    let update =
        sql(update).bind((known.id, found.log_index, found.block, found.block_hash, found.block_time, tx.now_s()));
    tx.execute(update).await.map(drop)
}

/// Takes a deposit from its quote. The quote waits for one again; one that had expired when an operator gave it this deposit has expired
/// again, since its amount may be another's.
async fn release(tx: &Tx, deposit: &Deposit, why: &str) -> Result<(), HostError> {
    let Some(id) = &deposit.quote else { return Ok(()) };
    let Some(quote) = quotes::find(tx, id).await?.filter(|quote| quote.deposit == Some(deposit.id)) else {
        return Ok(());
    };
    let to = if quote.is_open { Status::Quoted } else { Status::Expired };
    quotes::set_status(tx, id, quote.status, to, why).await?;
    quotes::clear_deposit(tx, id, why).await
}

/// What has become of a deposit that is not where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// That was known.
    Known,
    /// Its quote, if it had one, waits again; or a lost one is in another block than before.
    Moved,
    /// Its payout was recorded before: it is only marked.
    Lost,
}

/// Takes back a deposit that is not in its block any more; `now_in` is the block in which its transaction is now.
pub async fn take_back(tx: &Tx, id: i64, block_hash: Hash256, now_in: Option<i64>) -> Result<Departure, HostError> {
    let Some(deposit) = find(tx, id).await?.filter(|deposit| deposit.block_hash == block_hash) else {
        return Ok(Departure::Known);
    };
    if is_paid(tx, &deposit).await? {
        let update = "UPDATE payin_deposits SET seen_at = $2, lost_at = coalesce(lost_at, $2), lost_in = $3 \
             WHERE id = $1 AND (lost_at IS NULL OR lost_in IS NULL OR lost_in <> $3)";
        let is_new = tx.execute(sql(update).bind((id, tx.now_s(), now_in.unwrap_or(NO_BLOCK)))).await? > 0;
        return Ok(match (is_new, deposit.lost_at) {
            (true, None) => Departure::Lost,
            (true, Some(_)) => Departure::Moved,
            (false, _) => Departure::Known,
        });
    }
    release(tx, &deposit, "its deposit left the chain").await?;
    // It was lost when its payout was on its way, and that one was never carried out: nothing is lost.
    let update = "UPDATE payin_deposits SET state = 'gone', quote = NULL, reason = 'it left its chain', lost_at = NULL, lost_in = NULL \
         WHERE id = $1 AND state <> 'dismissed'";
    tx.execute(sql(update).bind(id)).await.map(|_| Departure::Moved)
}

/// Notes that a deposit was looked up.
pub async fn set_looked_up(tx: &Tx, id: i64) -> Result<(), HostError> {
    tx.execute(sql("UPDATE payin_deposits SET seen_at = $2 WHERE id = $1").bind((id, tx.now_s()))).await.map(drop)
}

/// Notes that a deposit is where it was.
pub async fn set_present(tx: &Tx, id: i64) -> Result<(), HostError> {
    let update = "UPDATE payin_deposits SET seen_at = $2, lost_at = NULL, lost_in = NULL WHERE id = $1";
    tx.execute(sql(update).bind((id, tx.now_s()))).await.map(drop)
}

/// Ids of deposits of a chain that are to be matched, and whose check is due; those first whose amount a quote waits for.
pub async fn due(db: &impl Query, chain: &str, now_s: i64, limit: u32) -> Result<Vec<i64>, HostError> {
    let select = "SELECT d.id FROM payin_deposits d WHERE d.state = 'new' AND d.chain = $1 AND d.check_at <= $2 \
         ORDER BY CASE WHEN EXISTS (SELECT 1 FROM payin_quotes q WHERE q.chain = d.chain AND q.token = d.token AND q.send_key = d.units_key \
             AND q.address_index IS NULL AND q.status IN ('quoted', 'superseded')) THEN 0 \
         WHEN EXISTS (SELECT 1 FROM payin_addresses a JOIN payin_quotes o ON o.id = a.quote WHERE a.chain = d.chain AND a.address = d.address \
             AND o.status IN ('quoted', 'superseded')) THEN 0 ELSE 1 END, d.block, d.log_index, d.id LIMIT $3";
    db.rows(sql(select).bind((chain, now_s, limit))).await
}

/// Ids of deposits in these blocks that are nobody's yet.
pub async fn unmatched_in(db: &impl Query, chain: &str, (from, to): (i64, i64)) -> Result<Vec<i64>, HostError> {
    let select = "SELECT id FROM payin_deposits WHERE state IN ('new', 'unmatched') AND chain = $1 AND block BETWEEN $2 AND $3 \
         ORDER BY id LIMIT 500";
    db.rows(sql(select).bind((chain, from, to))).await
}

/// Deposits of a chain whose payouts are on their way, or ended since this time; those first that were looked up longest ago.
pub async fn paid_since(
    db: &impl Query,
    chain: &str,
    since_s: i64,
    limit: u32,
) -> Result<Vec<FollowedDeposit>, HostError> {
    let select = "SELECT q.id AS quote, q.status, d.id AS deposit, d.found_at FROM payin_quotes q JOIN payin_deposits d ON d.id = q.deposit WHERE q.chain = $1 \
         AND q.intent IS NOT NULL AND (q.status = 'confirmed' OR q.ended_at >= $2) AND d.state = 'matched' \
         ORDER BY d.seen_at, d.id LIMIT $3";
    db.rows(sql(select).bind((chain, since_s, limit))).await
}

/// Postpones the match of a deposit whose check was not possible.
pub async fn postpone(tx: &Tx, id: i64, reason: &str, wait_s: i64) -> Result<(), HostError> {
    let update =
        "UPDATE payin_deposits SET reason = $2, checks = checks + 1, check_at = $3 WHERE id = $1 AND state = 'new'";
    tx.execute(sql(update).bind((id, reason, tx.now_s() + wait_s))).await.map(drop)
}

/// Leaves a deposit to the operator.
pub async fn leave(tx: &Tx, id: i64, reason: &str) -> Result<(), HostError> {
    let update = "UPDATE payin_deposits SET state = 'unmatched', reason = $2 WHERE id = $1 AND state = 'new'";
    tx.execute(sql(update).bind((id, reason))).await.map(drop)
}

/// What came of giving a deposit to a quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assignment {
    Done,
    /// One of the two is not any more what it was.
    Changed,
    /// It buys no amount of coins that there is.
    TooLarge,
}

/// Gives a deposit to a quote that waits for one. The coins are those for what arrived, at the price of the quote.
pub async fn assign(tx: &Tx, deposit: &Deposit, quote: &Quote, detail: &str) -> Result<Assignment, HostError> {
    let Some(coins) = quote.coins_for(deposit.units) else { return Ok(Assignment::TooLarge) };
    let update = "UPDATE payin_deposits SET state = 'matched', reason = NULL, quote = $3 WHERE id = $1 AND state = $2";
    let detail = format!("{detail}, for {coins} wei");
    if tx.execute(sql(update).bind((deposit.id, deposit.state, &*quote.id))).await? == 0
        || !quotes::set_status(tx, &quote.id, quote.status, Status::Seen, &detail).await?
    {
        return Ok(Assignment::Changed);
    }
    quotes::set_deposit(tx, &quote.id, deposit.id, coins).await?;
    Ok(Assignment::Done)
}

/// Takes a deposit from the quote that an operator has ended: it is his to decide about.
pub async fn take_from_ended(tx: &Tx, id: i64, reason: &str) -> Result<(), HostError> {
    let update =
        "UPDATE payin_deposits SET state = 'unmatched', quote = NULL, reason = $2 WHERE id = $1 AND state = 'matched'";
    tx.execute(sql(update).bind((id, reason))).await.map(drop)
}

/// Records that an operator pays no coins for it; returns false when it is not his to decide.
pub async fn dismiss(tx: &Tx, id: i64, note: &str, operator: Address) -> Result<bool, HostError> {
    let reason = format!("dismissed by {operator}: {note}");
    let update = "UPDATE payin_deposits SET state = 'dismissed', reason = $2 WHERE id = $1 AND state = 'unmatched'";
    Ok(tx.execute(sql(update).bind((id, reason))).await? > 0)
}

/// Whether the deposit of a quote is still the one that was looked up.
pub async fn is_unchanged(tx: &Tx, quote: &Quote, deposit: &Deposit) -> Result<bool, HostError> {
    let current = find(tx, deposit.id).await?;
    let is_same = |current: Deposit| {
        (current.block, current.block_hash, current.state) == (deposit.block, deposit.block_hash, DepositState::Matched)
            && current.quote.as_ref() == Some(&quote.id)
            && current.units == deposit.units
    };
    Ok(quote.deposit == Some(deposit.id) && current.is_some_and(is_same))
}
