//! Vouchers, each with what the logs of its vault say about it.

use crate::model::{Outcome, RESOURCE_CHARS_MAX, State, Voucher, VoucherRow};
use plugin_api::{Address, HostError, Query, Sql, Tx, Wei, sql};
use serde::{Deserialize, Serialize};

/// The columns of [`VoucherRow`] of vouchers `v` out of a table, for a condition. A log that says that a voucher was skipped counts only
/// in a transaction of its batch: anybody can make the vault skip a forged voucher with its nonce.
macro_rules! select {
    ($vouchers:literal, $condition:literal) => {
        sql(concat!(
            "SELECT v.payer, v.nonce, v.payee, v.amount, v.reference, v.expiry_s, v.resource, v.state, v.reason, v.until_s, \
             v.created_at, v.tx, v.closed_at, s.payee AS settled_payee, s.amount AS settled_amount, s.reference AS settled_ref, \
             s.tx AS settled_tx, s.settled_at, s.block AS settled_block, k.reason AS skip_reason, k.tx AS skip_tx, k.skipped_at \
             FROM ",
            $vouchers,
            " v LEFT JOIN x402_settled s ON s.payer = v.payer AND s.nonce = v.nonce AND s.vault = v.vault \
             LEFT JOIN x402_skipped k ON k.payer = v.payer AND k.nonce = v.nonce AND k.vault = v.vault \
                 AND k.tx IN (SELECT t.tx FROM x402_batch_transactions t WHERE t.batch = v.batch)",
            $condition
        ))
    };
    ($condition:literal) => {
        select!("x402_vouchers", $condition)
    };
}

/// That nobody has settled the nonce of a voucher. One that somebody has settled waits for nothing: the vault's log decides about it, as
/// soon as that is final.
macro_rules! is_unsettled {
    () => {
        "NOT EXISTS (SELECT 1 FROM x402_settled s WHERE s.payer = x402_vouchers.payer AND s.nonce = x402_vouchers.nonce \
         AND s.vault = x402_vouchers.vault)"
    };
}

pub(super) use is_unsettled;

/// The columns of [`VoucherRow`] of all vouchers `v`, for a condition.
pub fn select() -> Sql {
    select!("")
}

/// Vouchers of a payer in an answer.
const NEWEST_MAX: u32 = 200;

/// A voucher that was checked, before it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewVoucher {
    pub voucher: Voucher,
    pub signature: String,
    /// Whether the payer is a contract that has to accept the signature.
    pub by_contract: bool,
    pub vault: Address,
    pub resource: String,
}

/// What is stored of a payer, as far as a voucher with a nonce depends on it.
#[derive(Clone, Debug, Default)]
pub struct PayerVouchers {
    /// The one with the nonce.
    pub same: Option<VoucherRow>,
    /// What may be pending: state and logs decide.
    pub open: Vec<VoucherRow>,
}

impl PayerVouchers {
    /// Its rows are those of [`Self::of`].
    pub fn select(payer: Address, nonce: Wei) -> Sql {
        // Two ranges, each of an index of its own: one condition for both would read all vouchers of the payer.
        select!(
            "(SELECT * FROM x402_vouchers WHERE payer = $1 AND nonce = $2 \
              UNION ALL SELECT * FROM x402_vouchers WHERE payer = $1 AND closed_at IS NULL AND nonce <> $2)",
            ""
        )
        .bind((payer, nonce))
    }

    pub fn of(rows: Vec<VoucherRow>, nonce: Wei) -> Self {
        let mut found = Self { same: None, open: Vec::with_capacity(rows.len()) };
        for row in rows {
            if row.nonce == nonce {
                found.same = Some(row.clone());
            }
            if matches!(row.state, State::Reserved | State::Queued | State::Submitted) {
                found.open.push(row);
            }
        }
        found
    }

    pub async fn read(db: &impl Query, payer: Address, nonce: Wei) -> Result<Self, HostError> {
        Ok(Self::of(db.rows(Self::select(payer, nonce)).await?, nonce))
    }
}

/// What a payer has pending, or may have: state and logs decide.
pub async fn pending(db: &impl Query, payer: Address) -> Result<Vec<VoucherRow>, HostError> {
    let select =
        select!(" WHERE v.payer = $1 AND v.closed_at IS NULL AND v.state IN ('reserved', 'queued', 'submitted')");
    db.rows(select.bind(payer)).await
}

pub async fn newest(db: &impl Query, payer: Address) -> Result<Vec<VoucherRow>, HostError> {
    let select = select!(" WHERE v.payer = $1 ORDER BY v.created_at DESC, v.nonce DESC LIMIT $2");
    db.rows(select.bind((payer, NEWEST_MAX))).await
}

/// Stores a voucher with the commit: reserved until a time, or queued.
pub fn insert(tx: &Tx, new: &NewVoucher, until_s: Option<i64>) -> Result<(), HostError> {
    let NewVoucher { voucher, signature, by_contract, vault, resource } = new;
    let (now_s, state) = (tx.now_s(), if until_s.is_some() { State::Reserved } else { State::Queued });
    let resource: String = resource.chars().take(RESOURCE_CHARS_MAX).collect();
    let insert = sql(
        "INSERT INTO x402_vouchers (payer, nonce, payee, amount, reference, expiry_s, signature, by_contract, vault, \
         resource, state, until_s, queued_at, attempts, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, $14)",
    )
    .bind((voucher.payer, voucher.nonce, voucher.payee, voucher.amount, voucher.reference, voucher.expiry_s))
    .bind((signature, *by_contract, *vault, resource, state))
    .bind((until_s, until_s.is_none().then_some(now_s), now_s));
    tx.defer(insert)
}

/// Seconds that a voucher must have left when the work is done: its batch has to be sent and mined in them.
const SETTLE_S: i64 = 15;

/// Queues a reservation whose time is not over, and whose voucher can still be settled, or is: its payer may have settled another one with its
/// nonce meanwhile. Returns whether there was one.
pub async fn keep(tx: &Tx, payer: Address, nonce: Wei) -> Result<bool, HostError> {
    let keep = sql("UPDATE x402_vouchers SET state = 'queued', queued_at = $3, until_s = NULL \
         WHERE payer = $1 AND nonce = $2 AND state = 'reserved' AND until_s >= $3 AND expiry_s >= $4 AND NOT EXISTS \
         (SELECT 1 FROM x402_settled s WHERE s.payer = x402_vouchers.payer AND s.nonce = x402_vouchers.nonce \
         AND s.vault = x402_vouchers.vault AND (s.payee <> x402_vouchers.payee OR s.amount <> x402_vouchers.amount \
         OR s.reference <> x402_vouchers.reference))");
    let now_s = tx.now_s();
    Ok(tx.execute(keep.bind((payer, nonce, now_s, now_s + SETTLE_S))).await? > 0)
}

/// Whether the voucher was kept before: a call of `keep` may come twice.
pub async fn is_kept(tx: &Tx, payer: Address, nonce: Wei) -> Result<bool, HostError> {
    let select = sql(
        "SELECT count(*) FROM x402_vouchers WHERE payer = $1 AND nonce = $2 AND state NOT IN ('reserved', 'voided')",
    );
    Ok(tx.one::<i64>(select.bind((payer, nonce))).await? > 0)
}

/// Voids a reservation; returns whether there was one.
pub async fn release(tx: &Tx, payer: Address, nonce: Wei, reason: &str) -> Result<bool, HostError> {
    let release = sql("UPDATE x402_vouchers SET state = 'voided', reason = $3, closed_at = $4 \
         WHERE payer = $1 AND nonce = $2 AND state = 'reserved'");
    Ok(tx.execute(release.bind((payer, nonce, reason, tx.now_s()))).await? > 0)
}

/// How many of a payer's vouchers wait for a batch or are in one.
pub async fn queued_of(db: &impl Query, payer: Address) -> Result<i64, HostError> {
    let select = sql(
        "SELECT count(*) FROM x402_vouchers WHERE payer = $1 AND closed_at IS NULL AND state IN ('queued', 'submitted')",
    );
    db.one(select.bind(payer)).await
}

/// Whether a voucher of the payer waits for a batch.
pub async fn has_queued(db: &impl Query, payer: Address) -> Result<bool, HostError> {
    let select =
        sql("SELECT payer FROM x402_vouchers WHERE payer = $1 AND closed_at IS NULL AND state = 'queued' LIMIT 1");
    Ok(db.row::<Address>(select.bind(payer)).await?.is_some())
}

/// What waits and what is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Queue {
    pub queued: i64,
    pub oldest_queued_at: Option<i64>,
    pub submitted: i64,
    /// When the oldest batch was made that is in no block.
    pub oldest_submitted_at: Option<i64>,
}

pub async fn queue(db: &impl Query) -> Result<Queue, HostError> {
    let select = sql(concat!(
        "SELECT (SELECT count(*) FROM x402_vouchers WHERE state = 'queued') AS queued, \
         (SELECT queued_at FROM x402_vouchers WHERE state = 'queued' AND ",
        is_unsettled!(),
        " ORDER BY queued_at LIMIT 1) AS oldest_queued_at, \
         (SELECT count(*) FROM x402_vouchers WHERE state = 'submitted') AS submitted, \
         (SELECT min(created_at) FROM x402_batches WHERE state = 'sent' AND is_mined = 0) AS oldest_submitted_at"
    ));
    db.one(select).await
}

/// Since when the oldest voucher waits for a batch, or its batch for a block. Those of contracts do not count: a payer whose code makes
/// his batches fail stops nobody else. Nor does one who settles his voucher himself.
pub async fn waits_since(db: &impl Query) -> Result<Option<i64>, HostError> {
    let select = sql(concat!(
        "SELECT min(since) FROM (SELECT (SELECT queued_at FROM x402_vouchers WHERE state = 'queued' AND by_contract = 0 AND ",
        is_unsettled!(),
        " ORDER BY queued_at LIMIT 1) AS since \
         UNION ALL SELECT min(created_at) AS since FROM x402_batches WHERE state = 'sent' AND is_mined = 0 AND by_contract = 0) waiting"
    ));
    db.one(select).await
}

/// Whether so many vouchers wait.
pub async fn are_queued(db: &impl Query, count: u32) -> Result<bool, HostError> {
    let select =
        sql("SELECT count(*) FROM (SELECT 1 AS one FROM x402_vouchers WHERE state = 'queued' LIMIT $1) waiting")
            .bind(count);
    Ok(db.one::<i64>(select).await? >= i64::from(count))
}

/// Whether there is something for [`void_overdue`], [`skip_expired`] or [`drop_other_vaults`].
pub async fn must_end_some(db: &impl Query, vault: Address, now_s: i64) -> Result<bool, HostError> {
    let select = sql(concat!(
        "SELECT count(*) FROM (SELECT 1 AS one FROM x402_vouchers WHERE (state = 'reserved' AND until_s < $1) \
         OR (state = 'queued' AND (vault <> $2 OR (expiry_s < $1 AND ",
        is_unsettled!(),
        "))) LIMIT 1) found"
    ));
    Ok(db.one::<i64>(select.bind((now_s, vault))).await? > 0)
}

/// Voids reservations whose time is over.
pub async fn void_overdue(tx: &Tx, reason: &str) -> Result<u64, HostError> {
    let update = sql(
        "UPDATE x402_vouchers SET state = 'voided', reason = $1, closed_at = $2 WHERE state = 'reserved' AND until_s < $2",
    );
    tx.execute(update.bind((reason, tx.now_s()))).await
}

/// Ends vouchers that expired while they waited. Not one whose payer has settled another voucher with its nonce: it stays open until that
/// is final, because he is refused for it.
pub async fn skip_expired(tx: &Tx, reason: &str) -> Result<u64, HostError> {
    let update = sql(concat!(
        "UPDATE x402_vouchers SET state = 'skipped', reason = $1, closed_at = $2 WHERE state = 'queued' AND expiry_s < $2 AND ",
        is_unsettled!()
    ));
    tx.execute(update.bind((reason, tx.now_s()))).await
}

/// Ends vouchers whose vault is not used any more.
pub async fn drop_other_vaults(tx: &Tx, vault: Address) -> Result<u64, HostError> {
    let update = sql(
        "UPDATE x402_vouchers SET state = 'unsettleable', reason = 'its vault is not used any more', closed_at = $2 \
         WHERE state = 'queued' AND vault <> $1",
    );
    tx.execute(update.bind((vault, tx.now_s()))).await
}

/// Vouchers that are open here and decided by a log of a block up to this one, not after this time.
pub async fn decided(db: &impl Query, (block, at_s): (i64, i64), limit: u32) -> Result<Vec<VoucherRow>, HostError> {
    let select = select!(
        " WHERE v.state IN ('queued', 'submitted') AND ((s.block <= $1 AND s.settled_at <= $2) \
         OR (v.state = 'submitted' AND k.block <= $1 AND k.skipped_at <= $2)) LIMIT $3"
    );
    db.rows(select.bind((block, at_s, limit))).await
}

/// Ends a voucher as the logs say.
pub async fn close(tx: &Tx, row: &VoucherRow, outcome: &Outcome) -> Result<bool, HostError> {
    let update = sql(
        "UPDATE x402_vouchers SET state = $4, reason = $5, tx = $6, closed_at = $7 WHERE payer = $1 AND nonce = $2 AND state = $3",
    );
    let update = update.bind((row.payer, row.nonce, row.state));
    Ok(tx.execute(update.bind((outcome.state, outcome.reason.as_deref(), outcome.tx, outcome.at))).await? > 0)
}
