//! `POST /api/x402/verify`: whether a payment would be accepted. For servers that use this gateway as their facilitator.

use crate::{
    X402,
    contributions::{Stop, examine, open_vault, vault_address},
    error::Malformed,
    model::{FacilitatorBody, Settlement, VerifyResponse},
};
use plugin_api::{HandlerError, Json, JsonBody, RequestContext, Route};

/// A voucher with its terms has less than two.
const BODY_BYTES_MAX: u64 = 64 * 1024;

pub fn route() -> Route<X402> {
    Route::post("/api/x402/verify", verify_payment)
        .public()
        .per_minute(120)
        .body_max_bytes(BODY_BYTES_MAX)
        .summary("Check a payment without taking it")
}

async fn verify_payment(
    cx: RequestContext<X402>,
    JsonBody(body): JsonBody<FacilitatorBody>,
) -> Result<Json<VerifyResponse>, HandlerError<Malformed>> {
    let (payment, requirement) = body.parse()?;
    let payer = payment.voucher.payer;
    let (mut reason, mut disabled) = (None, None);
    match open_vault(&cx).await? {
        Err(why) => disabled = Some(why),
        Ok(open) => match examine(&cx, open, payment, &requirement).await {
            Ok(_) => {}
            Err(Stop::Refused(refusal)) => reason = Some(refusal.reason),
            Err(Stop::Disabled(why)) => disabled = Some(why),
            Err(Stop::Host(error)) => return Err(error.into()),
        },
    }
    let reason = reason.or_else(|| disabled.clone());
    Ok(Json(VerifyResponse {
        is_valid: reason.is_none(),
        ok: reason.is_none(),
        invalid_reason: reason.clone(),
        reason,
        payer,
        vault: vault_address(&cx),
        settlement: Settlement::of(disabled.as_ref()),
        disabled: disabled.is_some().then_some(true),
        disabled_reason: disabled,
    }))
}
