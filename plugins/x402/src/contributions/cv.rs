//! Claims for an agent's credential: settlements to its owner and by it.

use crate::{
    X402,
    store::{
        derived,
        record::{self, RecordSettlement, Side},
    },
};
use plugin_api::{
    HostError, PluginContext,
    point::{CvClaim, CvClaimsInput, CvLog, CvRecord, members},
};
use serde_json::json;
use std::collections::BTreeSet;

const RECEIPT: &str = "X402Receipt";
const PAYMENT: &str = "X402Payment";
/// Of each side.
const NEWEST_MAX: u32 = 50;

pub async fn cv_claims(cx: PluginContext<X402>, input: CvClaimsInput) -> Result<CvRecord, HostError> {
    let (db, owner) = (cx.db(), input.owner);
    let received = record::newest(&db, Side::Payee, owner, NEWEST_MAX).await?;
    let paid = record::newest(&db, Side::Payer, owner, NEWEST_MAX).await?;
    let income = derived::received(&db, owner).await?;
    let spent = derived::paid(&db, owner).await?;
    let pending = record::pending(&db, owner).await?;
    let left_out = CvRecord::left_out([
        (RECEIPT, income.settled_count, received.len()),
        (PAYMENT, spent.settled_count, paid.len()),
    ]);
    let mut nonces = BTreeSet::new();
    // Each payer numbers its own vouchers, so that two receipts may have one nonce.
    let receipts = received.iter().map(|settlement| {
        let is_new = nonces.insert(settlement.nonce);
        let payer = if is_new { String::new() } else { format!(":{}", settlement.payer) };
        claim(RECEIPT, format!("x402:in:{}{payer}", settlement.nonce), settlement)
    });
    let payments = paid.iter().map(|settlement| claim(PAYMENT, format!("x402:out:{}", settlement.nonce), settlement));
    let summary = members([
        ("x402EarnedWei", json!(income.volume.saturating_sub(income.fees))),
        ("x402GrossWei", json!(income.volume)),
        ("x402FeesWei", json!(income.fees)),
        ("x402SpentWei", json!(spent.volume)),
        ("x402ReceiptCount", json!(income.settled_count)),
        ("x402PaymentCount", json!(spent.settled_count)),
        ("x402VouchersPending", json!(pending)),
    ]);
    Ok(CvRecord {
        covers: vec![RECEIPT.to_owned(), PAYMENT.to_owned()],
        claims: receipts.chain(payments).collect(),
        left_out,
        summary,
        activity_types: crate::chain::EVENT_TYPES.map(str::to_owned).into(),
        ..CvRecord::default()
    }
    .within_bounds())
}

fn claim(kind: &str, id: String, settlement: &RecordSettlement) -> CvClaim {
    let RecordSettlement { payer, payee, nonce, amount, fee, tx, settled_at } = settlement;
    let fields = [
        ("payer", json!(payer)),
        ("payee", json!(payee)),
        ("amountWei", json!(amount)),
        ("feeWei", json!(fee)),
        ("nonce", json!(nonce)),
    ];
    CvClaim::new(kind, id, fields).stated(*settled_at).proved_by([CvLog::new("x402Vault", "Settled", *tx)])
}
