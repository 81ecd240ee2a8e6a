//! `POST /api/compute/{id}/invoke?seconds=N`: a call of a provider of compute, paid by the second and passed on as it is.

use crate::{Tools, error::InvokeError, model::ToolId, store};
use plugin_api::{
    HandlerError, JsonSchema, Path, QueryString, RequestContext, Route,
    extract::Body,
    payment::Price,
    response::{Forward, Forwarded},
};
use serde::Deserialize;
use serde_json::Value;

/// A larger body is a 413; `http.body_bytes_max` of the gateway may allow less.
const BODY_BYTES_MAX: u64 = 1024 * 1024;
const SECONDS_MAX: u64 = 3600;

pub fn route() -> Route<Tools> {
    Route::post("/api/compute/{id}/invoke", invoke_compute)
        .public()
        .priced("pricePerSecond for each second, paid to the listing's owner", price_of_compute)
        .summary("Use compute that is for rent")
        .description(
            "The body goes to `<endpoint>/invoke?seconds=N` of the provider as it is, with its content type. The answer has the provider's \
             status. The provider has 60 s and 1 MiB for it: of longer work it answers where the result will be.",
        )
        .body_max_bytes(BODY_BYTES_MAX)
        .body_types(&["application/json", "application/octet-stream", "text/plain"])
        .timeout_ms(Forward::HANDLER_TIMEOUT_MS)
        .per_minute(60)
        .response::<ProviderAnswer>(200, "*/*", "What the provider answers")
}

/// What the provider answers
#[derive(JsonSchema)]
#[schemars(inline, transparent)]
#[expect(dead_code, reason = "describes a body of any type")]
struct ProviderAnswer(Value);

#[derive(Deserialize, JsonSchema)]
struct Rent {
    /// How long the compute is used: 1 to 3600.
    seconds: u64,
}

/// A listing that can be called now, and what the call costs.
struct ComputeCall {
    tool: ToolId,
    forward: Forward,
    price: Price,
}

impl ComputeCall {
    async fn prepare(
        cx: &RequestContext<Tools>,
        tool: ToolId,
        seconds: u64,
    ) -> Result<Self, HandlerError<InvokeError>> {
        let offer = store::tools::find_offer(&cx.db(), tool).await?.ok_or(InvokeError::UnknownCompute { tool })?;
        if !(1..=SECONDS_MAX).contains(&seconds) {
            return Err(InvokeError::Seconds.into());
        }
        let compute = offer.rendered.compute;
        let forward = Forward::to(cx, &compute.endpoint).map_err(InvokeError::from)?.query("seconds", seconds);
        cx.plugin().calls.check(tool.0).map_err(InvokeError::from)?;
        let price = Price {
            payee: Some(offer.owner),
            amount: compute.price_per_second.saturating_mul(seconds),
            description: format!("{seconds} seconds of the compute {tool}"),
        };
        Ok(Self { tool, forward, price })
    }
}

async fn price_of_compute(
    cx: RequestContext<Tools>,
    Path(tool): Path<ToolId>,
    QueryString(Rent { seconds }): QueryString<Rent>,
) -> Result<Price, HandlerError<InvokeError>> {
    Ok(ComputeCall::prepare(&cx, tool, seconds).await?.price)
}

async fn invoke_compute(
    cx: RequestContext<Tools>,
    Path(tool): Path<ToolId>,
    QueryString(Rent { seconds }): QueryString<Rent>,
    Body(body): Body,
) -> Result<Forwarded, HandlerError<InvokeError>> {
    let ComputeCall { tool, forward, price } = ComputeCall::prepare(&cx, tool, seconds).await?;
    check_paid(&price, cx.payment().is_some())?;
    let _place = cx.plugin().calls.begin(tool.0).map_err(InvokeError::from)?;
    forward.send(&cx, body).await
}

/// The price was asked before. If the listing got one in between, nothing was paid.
fn check_paid(price: &Price, is_paid: bool) -> Result<(), InvokeError> {
    if is_paid || price.is_free() { Ok(()) } else { Err(InvokeError::PriceChanged) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use plugin_api::{Address, ApiError as _};

    #[test]
    fn nothing_that_costs_is_forwarded_without_a_payment() {
        let amount = "1000".parse().unwrap();
        let price = Price { payee: Some(Address::ZERO), amount, description: String::new() };
        let refused = check_paid(&price, false).unwrap_err().spec();
        assert_eq!((refused.status, refused.code), (503, "price_changed"));
        assert_eq!(check_paid(&price, true), Ok(()));
        assert_eq!(check_paid(&Price::free(), false), Ok(()));
    }
}
