//! Rows derived from the vault's events. Only the handlers of `chain.rs` write them.

use crate::model::contracts::{Deposited, Settled, Skipped};
use plugin_api::{Address, HostError, Query, Sql, Tx, Wei, contracts::ChainEvent, sql};
use serde::Deserialize;
use std::collections::BTreeSet;

pub const SETTLED: &str = "x402_settled";
pub const SKIPPED: &str = "x402_skipped";
pub const ACCOUNTS: &str = "x402_accounts";
pub const DEPOSITS: &str = "x402_deposits";
pub const PAYEES: &str = "x402_payees";
pub const PAID: &str = "x402_paid";
pub const TOTALS: &str = "x402_totals";

/// The vault's own reasons are shorter; another contract at its address may say anything.
const REASON_CHARS_MAX: usize = 200;
/// More would be too many parameters.
const PAYEES_OF_STATEMENT: usize = 500;
/// Key of the only row of the totals.
const TOTALS_ROW: i64 = 1;

/// What a payer has in the vault, as far as it is indexed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Account {
    pub balance: Wei,
    pub unlock_at: i64,
    /// Vouchers that were settled on the chain, whoever sent them.
    pub settled_count: i64,
}

pub async fn account(db: &impl Query, vault: Address, payer: Address) -> Result<Account, HostError> {
    let select = sql("SELECT balance, unlock_at, settled_count FROM x402_accounts WHERE payer = $1 AND vault = $2");
    Ok(db.row(select.bind((payer, vault))).await?.unwrap_or_default())
}

pub fn set_account(vault: Address, payer: Address, account: &Account) -> Sql {
    let set = Sql::upsert("x402_accounts", "payer, vault", "balance, unlock_at, settled_count");
    set.bind((payer, vault, account.balance, account.unlock_at, account.settled_count))
}

pub fn insert_deposit(event: &ChainEvent<Deposited>) -> Sql {
    let Deposited { payer, amount } = &event.args;
    sql("INSERT INTO x402_deposits (tx, log_index, vault, payer, amount, block) VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (tx, log_index) DO NOTHING")
    .bind((event.tx, event.log_index, event.address, payer, amount, event.block))
}

pub fn insert_settled(event: &ChainEvent<Settled>) -> Sql {
    let Settled { payer, payee, amount, fee, nonce, reference } = &event.args;
    sql("INSERT INTO x402_settled (vault, payer, nonce, payee, amount, fee, reference, tx, block, settled_at, log_index) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (payer, nonce, vault) DO NOTHING")
    .bind((event.address, payer, nonce, payee, amount, fee, reference))
    .bind((event.tx, event.block, event.time_s, event.log_index))
}

pub fn insert_skipped(event: &ChainEvent<Skipped>) -> Sql {
    let Skipped { payer, nonce, reason } = &event.args;
    let reason: String = reason.chars().take(REASON_CHARS_MAX).collect();
    sql("INSERT INTO x402_skipped (tx, log_index, vault, payer, nonce, reason, block, skipped_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (tx, log_index) DO NOTHING")
    .bind((event.tx, event.log_index, event.address, payer, nonce, reason))
    .bind((event.block, event.time_s))
}

/// Amount and number of settlements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Totals {
    pub volume: Wei,
    pub settled_count: i64,
}

pub async fn totals(db: &impl Query) -> Result<Totals, HostError> {
    let select = sql("SELECT volume, settled_count FROM x402_totals WHERE id = $1").bind(TOTALS_ROW);
    Ok(db.row(select).await?.unwrap_or_default())
}

/// What somebody received or paid in settlements, and what that cost the payee in fees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Sums {
    pub volume: Wei,
    pub fees: Wei,
    pub settled_count: i64,
}

impl Sums {
    fn with(self, amount: Wei, fee: Wei) -> Self {
        Self {
            volume: self.volume.saturating_add(amount),
            fees: self.fees.saturating_add(fee),
            settled_count: self.settled_count + 1,
        }
    }
}

/// All that an address received.
pub async fn received(db: &impl Query, payee: Address) -> Result<Sums, HostError> {
    let select = sql("SELECT volume, fees, settled_count FROM x402_payees WHERE payee = $1").bind(payee);
    Ok(db.row(select).await?.unwrap_or_default())
}

/// All that an address paid; the fees are the payee's.
pub async fn paid(db: &impl Query, payer: Address) -> Result<Sums, HostError> {
    let select = sql("SELECT volume, '0' AS fees, settled_count FROM x402_paid WHERE payer = $1").bind(payer);
    Ok(db.row(select).await?.unwrap_or_default())
}

/// Adds a settlement to the totals of all, of the payee and of the payer.
pub async fn count_settled(tx: &Tx, settled: &Settled, at_s: i64) -> Result<(), HostError> {
    let Settled { payer, payee, amount, fee, .. } = *settled;
    let all = totals(tx).await?;
    let store = Sql::upsert("x402_totals", "id", "volume, settled_count");
    tx.defer(store.bind((TOTALS_ROW, all.volume.saturating_add(amount), all.settled_count + 1)))?;
    let received = received(tx, payee).await?.with(amount, fee);
    let store = Sql::upsert("x402_payees", "payee", "volume, fees, settled_count, last_settled_at");
    tx.defer(store.bind((payee, received.volume, received.fees, received.settled_count, at_s)))?;
    let paid = paid(tx, payer).await?.with(amount, Wei::ZERO);
    let store = Sql::upsert("x402_paid", "payer", "volume, settled_count");
    tx.defer(store.bind((payer, paid.volume, paid.settled_count)))
}

/// Which of the payees a settlement paid after this time.
pub async fn paid_since(
    db: &impl Query,
    since_s: i64,
    payees: &BTreeSet<Address>,
) -> Result<BTreeSet<Address>, HostError> {
    let mut paid = BTreeSet::new();
    for part in payees.iter().collect::<Vec<_>>().chunks(PAYEES_OF_STATEMENT) {
        let placeholders: Vec<String> = (2..part.len() + 2).map(|number| format!("${number}")).collect();
        let text = format!(
            "SELECT payee FROM x402_payees WHERE last_settled_at > $1 AND payee IN ({})",
            placeholders.join(", ")
        );
        let select = part.iter().fold(sql(text).bind(since_s), |select, payee| select.bind(**payee));
        paid.extend(db.rows::<Address>(select).await?);
    }
    Ok(paid)
}

/// How often the vault has used the nonce, as far as it is indexed: once at most.
pub fn count_used(vault: Address, payer: Address, nonce: Wei) -> Sql {
    sql("SELECT count(*) FROM x402_settled WHERE payer = $1 AND nonce = $2 AND vault = $3").bind((payer, nonce, vault))
}
