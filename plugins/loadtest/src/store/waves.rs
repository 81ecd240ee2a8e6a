//! Waves and the accounts of their wallets. The rule: a step is written only when nobody has taken it since it was planned.

use super::{taken, transactions, wallets::listed};
use crate::model::{Account, FLOAT, Phase, PlannedTransaction, Wave};
use plugin_api::{HostError, Query, Tx, chain::SignedTransaction, sql};
use std::collections::BTreeMap;

const COLUMNS: &str = "id, first, size, phase, round, gas, gas_price, funding";

/// All that are not forgotten, oldest first; some are done.
pub async fn all(db: &impl Query) -> Result<Vec<Wave>, HostError> {
    db.rows(sql(format!("SELECT {COLUMNS} FROM loadtest_waves ORDER BY id"))).await
}

pub async fn insert(tx: &Tx, wave: &Wave) -> Result<(), HostError> {
    let insert = sql("INSERT INTO loadtest_waves (id, first, size, phase, round, gas, gas_price, funding) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)");
    let shape = (wave.id, wave.first, wave.size, wave.phase, wave.round);
    tx.execute(insert.bind(shape).bind((wave.gas, wave.gas_price, wave.funding))).await.map(drop)
}

/// Moves a wave on; fails when it is not where it was any more.
pub async fn advance(tx: &Tx, from: (Phase, i64), wave: &Wave) -> Result<(), HostError> {
    let update = sql("UPDATE loadtest_waves SET phase = $4, round = $5 WHERE id = $1 AND phase = $2 AND round = $3");
    taken(tx.execute(update.bind((wave.id, from.0, from.1, wave.phase, wave.round))).await?)
}

/// Forgets a wave that is done and whose transactions are all final, with the accounts of its wallets.
pub async fn forget(tx: &Tx, wave: &Wave) -> Result<(), HostError> {
    tx.execute(sql("DELETE FROM loadtest_waves WHERE id = $1 AND phase = 'done'").bind(wave.id)).await?;
    let delete = sql("DELETE FROM loadtest_accounts WHERE idx >= $1 AND idx < $2");
    tx.execute(delete.bind((wave.indexes().start, wave.indexes().end))).await.map(drop)
}

/// Forgets the accounts of all wallets: nothing of them is under way.
pub async fn forget_accounts(tx: &Tx) -> Result<(), HostError> {
    tx.execute(sql("DELETE FROM loadtest_accounts WHERE idx > $1").bind(FLOAT)).await.map(drop)
}

/// The accounts with these indexes, as far as they are known.
pub async fn accounts(db: &impl Query, indexes: &[i64]) -> Result<BTreeMap<i64, Account>, HostError> {
    let mut found = BTreeMap::new();
    for some in indexes.chunks(500) {
        let select = sql("SELECT idx, nonce, balance FROM loadtest_accounts WHERE idx IN (");
        let rows: Vec<Account> = db.rows(listed(select, some).push(")")).await?;
        found.extend(rows.into_iter().map(|account| (account.idx, account)));
    }
    Ok(found)
}

/// Stores signed transactions with the accounts after them. `before` are the accounts as they were when this was planned: fails when
/// one has another nonce now.
pub async fn store(
    tx: &Tx,
    wave: i64,
    signed: &[(PlannedTransaction, SignedTransaction)],
    before: &BTreeMap<i64, Account>,
    after: &BTreeMap<i64, Account>,
) -> Result<(), HostError> {
    let changed: Vec<i64> = after.keys().copied().filter(|index| before.get(index) != after.get(index)).collect();
    let stored = accounts(tx, &changed).await?;
    let is_same = |index: &i64| match (stored.get(index), before.get(index)) {
        (Some(stored), Some(before)) => stored == before,
        // One that was not known: its nonce was read from the chain.
        (None, None) => true,
        (None, Some(_)) | (Some(_), None) => false,
    };
    taken(u64::from(changed.iter().all(is_same)))?;
    for account in changed.iter().filter_map(|index| after.get(index)) {
        let write = sql("INSERT INTO loadtest_accounts (idx, nonce, balance) VALUES ($1, $2, $3) \
             ON CONFLICT (idx) DO UPDATE SET nonce = excluded.nonce, balance = excluded.balance");
        tx.defer(write.bind((account.idx, account.nonce, account.balance)))?;
    }
    transactions::insert(tx, wave, signed).await
}

/// Whether the float has something signed that is in no block.
pub async fn is_float_busy(db: &impl Query) -> Result<bool, HostError> {
    let select = sql("SELECT count(*) FROM loadtest_transactions WHERE sender = $1 AND block IS NULL").bind(FLOAT);
    Ok(db.one::<i64>(select).await? > 0)
}
