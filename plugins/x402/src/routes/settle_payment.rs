//! `POST /api/x402/settle`: checks a payment and queues it. For servers that use this gateway as their facilitator.

use crate::{
    Config, X402,
    contributions::{Examined, Refusal, Stop, examine, open_vault, reserve, settle_at_once, settle_when_full},
    error::Malformed,
    model::{FacilitatorBody, SettleResponse, Settlement, receipt},
    store::vouchers,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use plugin_api::{
    HandlerError, HostError, Json, JsonBody, RequestContext, Route, Tx,
    response::{IntoResponse, Response, WithHeader},
};

/// A voucher with its terms has less than two.
const BODY_BYTES_MAX: u64 = 64 * 1024;

pub fn route() -> Route<X402> {
    Route::post("/api/x402/settle", settle_payment)
        .public()
        .per_minute(120)
        .body_max_bytes(BODY_BYTES_MAX)
        .summary("Check a payment and queue it for settlement")
}

/// The response with its header `PAYMENT-RESPONSE`.
pub struct SettleResponseWithHeader(WithHeader<Json<SettleResponse>>);

impl IntoResponse for SettleResponseWithHeader {
    fn into_response(self) -> Response {
        self.0.into_response()
    }

    fn describe(describe: &mut plugin_api::extract::RouteDescription<'_>) {
        Json::<SettleResponse>::describe(describe);
    }
}

async fn settle_payment(
    cx: RequestContext<X402>,
    JsonBody(body): JsonBody<FacilitatorBody>,
) -> Result<SettleResponseWithHeader, HandlerError<Malformed>> {
    let (payment, requirement) = body.parse()?;
    let (payer, nonce) = (payment.voucher.payer, payment.voucher.nonce);
    let taken = match open_vault(&cx).await? {
        Err(why) => Err(Stop::Disabled(why)),
        Ok(_) if payment.voucher.amount < cx.plugin().config.voucher_cost_wei => {
            let cost = cx.plugin().config.voucher_cost_wei;
            Err(format!("the amount is below {cost} wei, which its settlement costs").into())
        }
        Ok(vault) => examine(&cx, vault, payment, &requirement).await,
    };
    let taken = match taken {
        Ok(examined) => take(&cx, examined).await?,
        Err(stop) => Err(stop),
    };
    let (refusal, disabled) = match taken {
        Ok(()) => (None, None),
        Err(Stop::Refused(refusal)) => (Some(refusal), None),
        Err(Stop::Disabled(why)) => (Some(Refusal::from(why.clone())), Some(why)),
        Err(Stop::Host(error)) => return Err(error.into()),
    };
    match &refusal {
        Some(refusal) if refusal.wants_batch => settle_at_once(&cx, payer).await,
        Some(_) => {}
        None => settle_when_full(&cx).await,
    }
    let (success, names) = (refusal.is_none(), &cx.plugin().names);
    let tx = refusal.as_ref().and_then(|refusal| refusal.tx);
    let value = STANDARD.encode(receipt(names, success, payer, nonce, tx).to_string());
    let response = Json(SettleResponse {
        success,
        nonce: nonce.to_string(),
        tx_hash: tx,
        transaction: tx.map(|tx| tx.to_string()).unwrap_or_default(),
        queued: success,
        error_reason: refusal.map(|refusal| refusal.reason),
        payer,
        network: names.network.clone(),
        settlement: Settlement::of(disabled.as_ref()),
        disabled: disabled.is_some().then_some(true),
        disabled_reason: disabled,
    });
    Ok(SettleResponseWithHeader(WithHeader { response, name: "payment-response".into(), value: value.into() }))
}

async fn take(cx: &RequestContext<X402>, examined: Examined) -> Result<Result<(), Stop>, HandlerError<Malformed>> {
    let config = cx.plugin().config.clone();
    let refused =
        cx.write(async move |tx| Ok::<_, HandlerError<Malformed>>(queue(tx, &config, &examined).await?)).await?;
    Ok(refused.map_or(Ok(()), |refusal| Err(refusal.into())))
}

async fn queue(tx: &Tx, config: &Config, examined: &Examined) -> Result<Option<Refusal>, HostError> {
    if vouchers::queued_of(tx, examined.new.voucher.payer).await? >= i64::from(config.queued_per_payer) {
        let most = config.queued_per_payer;
        return Ok(Some(format!("{most} vouchers of the payer wait for their settlement, which are the most").into()));
    }
    reserve(tx, config, examined, None).await
}
