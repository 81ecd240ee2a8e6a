//! The wallets' addresses. The rule: a row is written once, when its address is derived, and never changes its address.

use plugin_api::{Address, HostError, Query, Sql, Tx, sql};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Key of the only row of `loadtest_branch`.
const ROW: i64 = 1;
/// Addresses of one statement.
const ADDRESSES_MAX: usize = 500;

/// What the rows were derived from.
#[derive(Clone, Debug, Deserialize)]
pub struct StoredBranch {
    pub xpub: String,
    pub problem: Option<String>,
}

pub async fn branch(db: &impl Query) -> Result<Option<StoredBranch>, HostError> {
    db.row(sql("SELECT xpub, problem FROM loadtest_branch WHERE id = $1").bind(ROW)).await
}

/// Notes what is derived from now on; what is stored already stays.
pub async fn begin_branch(tx: &Tx, xpub: &str) -> Result<(), HostError> {
    let insert =
        sql("INSERT INTO loadtest_branch (id, xpub, problem) VALUES ($1, $2, NULL) ON CONFLICT (id) DO NOTHING");
    tx.execute(insert.bind((ROW, xpub))).await.map(drop)
}

pub async fn set_problem(tx: &Tx, problem: Option<&str>) -> Result<(), HostError> {
    tx.execute(sql("UPDATE loadtest_branch SET problem = $2 WHERE id = $1").bind((ROW, problem))).await.map(drop)
}

/// The highest index that has a row; `None` before the float has one.
pub async fn last(db: &impl Query) -> Result<Option<i64>, HostError> {
    db.one(sql("SELECT max(idx) FROM loadtest_wallets")).await
}

/// Another gateway may have derived some of them at the same time.
pub async fn insert(tx: &Tx, wallets: &[(i64, Address)]) -> Result<(), HostError> {
    let rows = wallets.iter().map(|(index, address)| (*index, *address, 0));
    let Some(insert) = Sql::insert_rows("loadtest_wallets", "idx, address, is_seen", rows) else { return Ok(()) };
    tx.execute(insert.push(" ON CONFLICT (idx) DO NOTHING")).await.map(drop)
}

pub async fn address(db: &impl Query, index: i64) -> Result<Option<Address>, HostError> {
    db.row(sql("SELECT address FROM loadtest_wallets WHERE idx = $1").bind(index)).await
}

pub async fn index_of(db: &impl Query, address: Address) -> Result<Option<i64>, HostError> {
    db.row(sql("SELECT idx FROM loadtest_wallets WHERE address = $1").bind(address)).await
}

/// Those of these addresses that are wallets, with their indexes.
pub async fn indexes(db: &impl Query, addresses: &[Address]) -> Result<BTreeMap<Address, i64>, HostError> {
    let mut found = BTreeMap::new();
    for some in addresses.chunks(ADDRESSES_MAX) {
        let select = sql("SELECT address, idx FROM loadtest_wallets WHERE address IN (");
        let rows: Vec<(Address, i64)> = db.rows(listed(select, some).push(")")).await?;
        found.extend(rows);
    }
    Ok(found)
}

/// Notes that these wallets were seen on the chain.
pub async fn set_seen(tx: &Tx, indexes: &[i64]) -> Result<(), HostError> {
    for some in indexes.chunks(ADDRESSES_MAX) {
        let update = sql("UPDATE loadtest_wallets SET is_seen = 1 WHERE is_seen = 0 AND idx IN (");
        tx.execute(listed(update, some).push(")")).await?;
    }
    Ok(())
}

/// How many wallets were seen, the float counted too, and the highest index among them.
pub async fn seen(db: &impl Query) -> Result<(i64, i64), HostError> {
    let count = sql("SELECT row_count FROM loadtest_wallets_counts WHERE is_seen = 1");
    let highest = sql("SELECT max(idx) FROM loadtest_wallets WHERE is_seen = 1");
    let count: Option<i64> = db.row(count).await?;
    Ok((count.unwrap_or(0), db.one::<Option<i64>>(highest).await?.unwrap_or(0)))
}

/// Appends a placeholder for each value.
pub fn listed<V: plugin_api::handles::Bind + Copy>(statement: Sql, values: &[V]) -> Sql {
    values.iter().enumerate().fold(statement, |statement, (place, value)| {
        statement.push_bind(if place == 0 { "{}" } else { ", {}" }, *value)
    })
}
