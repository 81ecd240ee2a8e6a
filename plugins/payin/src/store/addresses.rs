//! Deposit addresses of single quotes. Rule: an index is taken in the transaction of its quote, counts up for ever, and belongs to one chain; an
//! address is given to one quote, whatever the text of its key and the name of its chain.

use crate::model::{Account, GRACE_S, Quote};
use plugin_api::{Address, HostError, List, Query, Tx, point::LabelledAddresses, sql};
use serde::Deserialize;

/// Between two searches for late deposits.
const DAY_S: i64 = 86_400;
/// How long after its quote an address is searched.
const LATE_S: i64 = 90 * DAY_S;

/// Left out after the database was restored: a backup does not know the indexes that were taken after it.
const RESTORED_GAP: i64 = 1_000_000;

/// The next index of this key; `None` when its addresses are those of another chain. `restored_s` is when the database was restored last, or 0.
pub async fn take_index(tx: &Tx, xpub: &str, chain: &str, restored_s: i64) -> Result<Option<i64>, HostError> {
    let first = if restored_s == 0 { 0 } else { RESTORED_GAP };
    let take = "INSERT INTO payin_accounts (xpub, chain, next_index, restored_s) VALUES ($1, $2, $3, $4) ON CONFLICT (xpub) DO UPDATE \
         SET next_index = payin_accounts.next_index + 1 + CASE WHEN payin_accounts.restored_s = $4 THEN 0 ELSE $5 END, restored_s = $4 WHERE payin_accounts.chain = excluded.chain";
    if tx.execute(sql(take).bind((xpub, chain, first + 1, restored_s, RESTORED_GAP))).await? == 0 {
        return Ok(None);
    }
    tx.row(sql("SELECT next_index - 1 FROM payin_accounts WHERE xpub = $1").bind(xpub)).await
}

/// Why no address of this account can be given on this chain.
pub async fn account_problem(
    db: &impl Query,
    (account, chain): (&Account, &str),
    labelled: &[LabelledAddresses],
) -> Result<Option<&'static str>, HostError> {
    let select = "SELECT count(*) FROM payin_accounts WHERE xpub = $1 AND chain <> $2";
    let elsewhere: i64 = db.one(sql(select).bind((account.xpub(), chain))).await?;
    if elsewhere > 0 {
        return Ok(Some("its xpub was that of another chain"));
    }
    // The branch of another's wallets has its first address, too.
    let Some(first) = account.address(0) else { return Ok(Some("its xpub has no addresses")) };
    let unlabelled = LabelledAddresses::leave_out(labelled, "f.address");
    let select = format!("SELECT count(*) FROM (SELECT cast($1 AS TEXT) AS address) AS f WHERE {unlabelled}");
    let unlabelled: i64 = db.one(sql(select).bind(first)).await?;
    Ok((unlabelled == 0).then_some("its xpub is that of labelled addresses, such as the wallets of the load test"))
}

/// Notes whose an address is; returns false when it is another quote's.
pub async fn insert(tx: &Tx, quote: &Quote, xpub: &str, index: i64) -> Result<bool, HostError> {
    let insert = "INSERT INTO payin_addresses (chain, address, xpub, address_index, quote, expires_at, late_from, late_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
    let insert = sql(insert)
        .bind((&*quote.chain, quote.deposit_address, xpub, index, &*quote.id, quote.expires_at))
        .bind((quote.position + 1, quote.expires_at + GRACE_S + DAY_S));
    Ok(tx.execute(insert).await? > 0)
}

/// The quote that an address was given to, which may be deleted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct GivenAddress {
    pub chain: String,
    pub quote: String,
}

/// Of any chain.
pub async fn find(db: &impl Query, address: Address) -> Result<Option<GivenAddress>, HostError> {
    db.row(sql("SELECT chain, quote FROM payin_addresses WHERE address = $1").bind(address)).await
}

/// An address that is searched for late deposits.
#[derive(Clone, Debug, Deserialize)]
pub struct LateAddress {
    pub address: Address,
    pub late_from: i64,
}

/// Those whose search is due, in the order in which they were searched.
pub async fn late(db: &impl Query, chain: &str, now_s: i64, limit: u32) -> Result<Vec<LateAddress>, HostError> {
    let select = "SELECT address, late_from FROM payin_addresses WHERE chain = $1 AND late_at <= $2 AND expires_at >= $3 \
         ORDER BY late_from, address LIMIT $4";
    db.rows(sql(select).bind((chain, now_s, now_s - LATE_S, limit))).await
}

/// Notes that all of `late` up to `last` are searched to this block; `is_done` when there are no more blocks today.
pub async fn set_searched(
    tx: &Tx,
    chain: &str,
    (last, now_s): (&LateAddress, i64),
    (to, is_done): (i64, bool),
) -> Result<(), HostError> {
    let update = "UPDATE payin_addresses SET late_from = CASE WHEN late_from <= $5 THEN $5 + 1 ELSE late_from END, \
         late_at = CASE WHEN $6 = 1 THEN $7 ELSE late_at END \
         WHERE chain = $1 AND late_at <= $2 AND (late_from < $3 OR late_from = $3 AND address <= $4)";
    let update =
        sql(update).bind((chain, now_s, last.late_from, last.address)).bind((to, i64::from(is_done), now_s + DAY_S));
    tx.execute(update).await.map(drop)
}

/// An address for operators, with a token that came to it, and on which chain that was.
#[derive(Clone, Debug, Deserialize)]
pub struct AddressRow {
    pub xpub: String,
    pub address_index: i64,
    pub chain: String,
    pub address: Address,
    pub quote: String,
    /// Null where nothing came; then the chain is that of the quote.
    pub asset: Option<String>,
    pub token: Option<Address>,
    pub deposits: i64,
}

const COLUMNS: &str = "xpub, address_index, chain, address, quote, asset, token, deposits";
const ORDER: &str = "chain, xpub, address_index, token";

/// All that were given to quotes.
pub const GIVEN: List = List::new(
    "(SELECT a.xpub, a.address_index, coalesce(d.chain, a.chain) AS chain, a.address, a.quote, min(d.asset) AS asset, d.token, \
     count(d.id) AS deposits FROM payin_addresses a LEFT JOIN payin_deposits d ON d.address = a.address AND d.state <> 'gone' \
     GROUP BY a.xpub, a.address_index, coalesce(d.chain, a.chain), a.address, a.quote, d.token) AS given",
    COLUMNS,
)
.order_by(ORDER);

/// Those to which something came, each with each of its tokens.
pub const FUNDED: List = List::new(
    "(SELECT a.xpub, a.address_index, d.chain, a.address, a.quote, min(d.asset) AS asset, d.token, count(*) AS deposits FROM payin_addresses a \
     JOIN payin_deposits d ON d.address = a.address AND d.state <> 'gone' \
     GROUP BY a.xpub, a.address_index, d.chain, a.address, a.quote, d.token) AS funded",
    COLUMNS,
)
.order_by(ORDER);
