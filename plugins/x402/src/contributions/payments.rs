//! The payment service: what the gateway calls for priced routes of all plugins.

use super::{
    examine::{Examined, examine},
    facilitator::open_vault,
    refusal::Stop,
    reserve::reserve,
};
use crate::{
    X402,
    model::{Offered, Payment, Requirement, check_price, receipt, terms, version_of},
    store::{derived, payers, vouchers},
};
use plugin_api::{
    Address, HostError, HostErrorCode, PluginContext, Tx, Wei,
    payment::{
        Check, CheckInput, CheckedPayment, End, EndInput, Offer, OfferInput, PaidSinceInput, Payment as Taken, Price,
        Reserve, ReserveInput,
    },
};
use std::{collections::BTreeSet, sync::atomic::Ordering::Relaxed};

const NO_PAYEE: &str = "nobody is there to be paid";

/// The body of a 402.
pub async fn offer(
    cx: PluginContext<X402>,
    OfferInput { price, resource, refused }: OfferInput,
) -> Result<Offer, HostError> {
    let vault = match open_vault(&cx).await? {
        Ok(vault) => vault,
        Err(reason) => return Ok(Offer::Disabled(reason)),
    };
    let Some(pay_to) = price.payee else { return Ok(Offer::Disabled(NO_PAYEE.to_owned())) };
    let plugin = cx.plugin();
    let nonce_hint = nonce_hint(&cx);
    let offered = Offered { price: &price, pay_to, resource: &resource, error: refused.as_deref(), vault, nonce_hint };
    let version = version_of(&resource, plugin.config.version);
    Ok(Offer::Terms(terms(&plugin.names, &offered, version).to_string()))
}

/// Below 2^53, and another one at each call of this gateway.
fn nonce_hint(cx: &PluginContext<X402>) -> u64 {
    let count = cx.plugin().nonce_hints.fetch_add(1, Relaxed) % 1000;
    u64::try_from(cx.now_ms()).unwrap_or_default().saturating_mul(1000).saturating_add(count)
}

/// Whether a payment is one, for this price, signed by its payer and covered.
pub async fn check(
    cx: PluginContext<X402>,
    CheckInput { price, resource, payment }: CheckInput,
) -> Result<Check, HostError> {
    let payment = match Payment::parse_header(&payment) {
        Ok(payment) => payment,
        Err(malformed) => return Ok(Check::Malformed(malformed.to_string())),
    };
    let vault = match open_vault(&cx).await? {
        Ok(vault) => vault,
        Err(reason) => return Ok(Check::Disabled(reason)),
    };
    if price.payee.is_none() {
        return Ok(Check::Disabled(NO_PAYEE.to_owned()));
    }
    let payer = payment.voucher.payer;
    match examine(&cx, vault, payment, &requirement(&price, resource)).await {
        Ok(examined) => accepted(&examined).map(Check::Accepted),
        Err(Stop::Refused(refusal)) => {
            if refusal.wants_batch {
                settle_at_once(&cx, payer).await;
            }
            Ok(Check::Refused(refusal.reason))
        }
        Err(Stop::Disabled(reason)) => Ok(Check::Disabled(reason)),
        Err(Stop::Host(error)) => Err(error),
    }
}

fn requirement(price: &Price, resource: String) -> Requirement {
    Requirement { pay_to: price.payee, amount: Some(price.amount), resource }
}

fn accepted(examined: &Examined) -> Result<CheckedPayment, HostError> {
    let document = serde_json::to_string(examined).map_err(invalid)?;
    let voucher = &examined.new.voucher;
    Ok(CheckedPayment { payment: Taken { payer: voucher.payer, nonce: voucher.nonce.to_string() }, document })
}

/// In the caller's transaction.
// Not by `cx.write`: the payment is reserved with the caller's rows, or not at all.
pub async fn take(
    cx: PluginContext<X402>,
    tx: Tx,
    ReserveInput { price, resource, checked, until_s }: ReserveInput,
) -> Result<Reserve, HostError> {
    let plugin = cx.plugin();
    let examined: Examined = serde_json::from_str(&checked.document).map_err(invalid)?;
    let voucher = &examined.new.voucher;
    if price.payee.is_none() {
        return Ok(Reserve::Disabled(NO_PAYEE.to_owned()));
    }
    if let Err(reason) = check_price(voucher, &requirement(&price, resource), plugin.config.reference) {
        return Ok(Reserve::Refused(reason));
    }
    Ok(match reserve(&tx, &plugin.config, &examined, until_s).await? {
        Some(refusal) => Reserve::Refused(refusal.reason),
        None => Reserve::Reserved(receipt(&plugin.names, true, voucher.payer, voucher.nonce, None).to_string()),
    })
}

/// Queues the reservation, or voids it.
pub async fn end(cx: PluginContext<X402>, EndInput { payment, released }: EndInput) -> Result<End, HostError> {
    let Ok(nonce) = payment.nonce.parse::<Wei>() else { return Ok(End::Gone) };
    let (payer, is_kept) = (payment.payer, released.is_none());
    let is_done = cx
        .write(async move |tx| match &released {
            Some(reason) => vouchers::release(tx, payer, nonce, reason).await,
            None => Ok(vouchers::keep(tx, payer, nonce).await? || vouchers::is_kept(tx, payer, nonce).await?),
        })
        .await?;
    if is_kept {
        settle_when_full(&cx).await;
    }
    Ok(if is_done { End::Done } else { End::Gone })
}

/// By the vault's events, whoever sent the batch.
pub async fn paid_since(
    cx: PluginContext<X402>,
    PaidSinceInput { since_s, payees }: PaidSinceInput,
) -> Result<BTreeSet<Address>, HostError> {
    derived::paid_since(&cx.db(), since_s, &payees).await
}

/// Sends a batch at once when one is full. While the job is asked for already, nothing is counted: it will see what waits.
pub async fn settle_when_full(cx: &PluginContext<X402>) {
    let wake = &cx.plugin().settle_wake;
    let asked = async {
        if !wake.is_asked(cx.now_ms()) && vouchers::are_queued(&cx.db(), cx.plugin().config.batch_size).await? {
            wake.ask(cx).await?;
        }
        Ok(())
    };
    report_unasked(cx, asked.await);
}

/// Sends a batch at once for a payer who was refused because he owes too much.
pub async fn settle_at_once(cx: &PluginContext<X402>, payer: Address) {
    let asked = async {
        // What is in a batch already waits for the chain alone.
        if vouchers::has_queued(&cx.db(), payer).await? {
            cx.write(async move |tx| payers::want_batch(tx, payer).await).await?;
            cx.plugin().settle_wake.ask(cx).await?;
        }
        Ok(())
    };
    report_unasked(cx, asked.await);
}

/// What was kept stays kept, and what was refused stays refused: the batch is made a little later, when the job looks by itself.
fn report_unasked(cx: &PluginContext<X402>, asked: Result<(), HostError>) {
    if let Err(error) = asked {
        cx.warn(&format!("a batch could not be asked for: {error}"));
    }
}

fn invalid(error: serde_json::Error) -> HostError {
    HostError::new(HostErrorCode::Invalid, error.to_string())
}
