//! Takes a payment that was checked, within a transaction: under the payer's row, whether its nonce is still unused and it is still
//! covered. The rule: statements only, because the transaction may be another plugin's and may run again.

use super::{
    examine::{BROKEN_PROMISE, Examined, seen},
    refusal::Refusal,
};
use crate::{
    Config,
    model::Exposure,
    store::{
        derived, payers,
        vouchers::{self, PayerVouchers},
    },
};
use plugin_api::{HostError, Tx};

/// What the vault said is too old to rely on after this time.
const CHECK_AGE_MAX_S: i64 = 60;

/// Stores the voucher, reserved until a time or queued; `None` when it is taken.
pub async fn reserve(
    tx: &Tx,
    config: &Config,
    examined: &Examined,
    until_s: Option<i64>,
) -> Result<Option<Refusal>, HostError> {
    let Examined { new, funds } = examined;
    let (now_s, voucher) = (tx.now_s(), &new.voucher);
    if now_s - funds.at_s > CHECK_AGE_MAX_S || voucher.expiry_s < now_s {
        return Ok(Some("it took too long to take this payment: pay again".into()));
    }
    let (payer, nonce) = (voucher.payer, voucher.nonce);
    let [refused_until_s, used, stored] = tx
        .run_all([
            payers::take(payer),
            derived::count_used(new.vault, payer, nonce),
            PayerVouchers::select(payer, nonce),
        ])
        .await?;
    let (refused_until_s, used): (i64, i64) = (refused_until_s.one()?, used.one()?);
    let stored = PayerVouchers::of(stored.all()?, nonce);
    if let Some(refusal) = seen(&stored, used > 0, now_s) {
        return Ok(Some(refusal));
    }
    let exposure = Exposure::of(&stored.open, funds.block, now_s);
    if refused_until_s > now_s || exposure.is_broken {
        return Ok(Some(BROKEN_PROMISE.into()));
    }
    if let Err(problem) = funds.check(exposure.pending, voucher.amount, config.credit_max_wei, now_s) {
        return Ok(Some(problem.into()));
    }
    vouchers::insert(tx, new, until_s)?;
    Ok(None)
}
