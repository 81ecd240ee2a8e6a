//! `POST /api/payin/deposits/resolve`: an operator gives a deposit that matched no quote to one, or dismisses it. Nobody else can do either.
//!
//! The rule: coins are paid for what arrived, at the price of the quote; whatever a deposit is assigned to, it passes the same confirmations,
//! caps and last check as any other.

use super::check_operator;
use crate::{
    Payin,
    error::OperatorError,
    model::{DepositState, DepositView, Status},
    store::{
        deposits::{self, Assignment},
        quotes,
    },
};
use plugin_api::{Address, HandlerError, Json, JsonSchema, RequestContext, Route, Signed, Tx};
use serde::Deserialize;

const NOTE_CHARS_MAX: usize = 200;

/// What an operator decides.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resolution {
    pub deposit_id: i64,
    /// The quote that it is for; without it the deposit is dismissed.
    #[serde(default)]
    pub quote_id: Option<String>,
    /// Why, for the history of the quote, which is public; at most 200 characters are kept.
    #[serde(default)]
    pub note: String,
}

pub fn route() -> Route<Payin> {
    Route::post("/api/payin/deposits/resolve", resolve_deposit)
        .signed("payin.resolve")
        .needs_setting("operators", &OperatorError::NoOperators)
        .per_minute(60)
        .summary("Give a deposit to a quote, or dismiss it; for operators")
        .description(
            "With `quoteId` the deposit belongs to this quote, which has none and is not paid, and coins are paid for what arrived, at the \
             quote's price. Without it the deposit is dismissed, after a refund by hand.",
        )
}

async fn resolve_deposit(
    cx: RequestContext<Payin>,
    Signed { signer, mut payload }: Signed<Resolution>,
) -> Result<Json<DepositView>, HandlerError<OperatorError>> {
    check_operator(cx.plugin(), signer)?;
    payload.note = payload.note.chars().take(NOTE_CHARS_MAX).collect();
    let (id, quote) = (payload.deposit_id, payload.quote_id.clone());
    let deposit = cx
        .write(async move |tx| {
            resolve(tx, signer, &payload).await?;
            Ok(deposits::find(tx, id).await?.ok_or(OperatorError::UnknownDeposit(id))?)
        })
        .await?;
    let decision = quote.map_or_else(|| "dismissed".to_owned(), |quote| format!("assigned to {quote}"));
    cx.info(&format!("the operator {signer} resolved deposit {id}: {decision}"));
    let chain = cx.plugin().chain(&deposit.chain);
    Ok(Json(DepositView::new(deposit, chain)))
}

async fn resolve(tx: &Tx, operator: Address, resolution: &Resolution) -> Result<(), HandlerError<OperatorError>> {
    let Resolution { deposit_id, quote_id, note } = resolution;
    let deposit = deposits::find(tx, *deposit_id).await?.ok_or(OperatorError::UnknownDeposit(*deposit_id))?;
    if deposit.state != DepositState::Unmatched {
        return Err(OperatorError::NotResolvable("only an unmatched deposit is an operator's to decide about").into());
    }
    let Some(quote_id) = quote_id else {
        deposits::dismiss(tx, deposit.id, note, operator).await?;
        return Ok(());
    };
    let quote = quotes::find(tx, quote_id).await?;
    let quote = quote.ok_or_else(|| OperatorError::UnknownQuote(quote_id.chars().take(32).collect()))?;
    if (&quote.chain, quote.token, quote.deposit) != (&deposit.chain, deposit.token, None) {
        return Err(OperatorError::NotResolvable("the quote is for another token, or has a deposit").into());
    }
    if !matches!(quote.status, Status::Quoted | Status::Superseded | Status::Expired) {
        return Err(OperatorError::NotResolvable("the quote is paid or failed").into());
    }
    let detail = format!("deposit {} assigned by {operator} ({note})", deposit.tx);
    match deposits::assign(tx, &deposit, &quote, &detail).await? {
        Assignment::Done => Ok(()),
        Assignment::Changed => Err(OperatorError::NotResolvable("it changed at this moment").into()),
        Assignment::TooLarge => Err(OperatorError::NotResolvable("the amount is too large").into()),
    }
}
