//! `POST /api/payin/deposits/resolve`: an operator gives a deposit that matched no quote to one, dismisses it, or takes it from a quote that cannot
//! be paid. Nobody else can do any of it.
//!
//! The rule: coins are paid for what arrived, at the price of the quote; whatever a deposit is assigned to, it passes the same confirmations,
//! caps and last check as any other.

use super::check_operator;
use crate::{
    Payin,
    error::OperatorError,
    model::{Deposit, DepositState, DepositView, Status},
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
    /// Ends the quote that has this deposit, while no payout of it is recorded: the quote has failed, and the deposit is unmatched again.
    #[serde(default)]
    pub end_quote: bool,
    /// Why, for the history of the quote, which is public; at most 200 characters are kept.
    #[serde(default)]
    pub note: String,
}

pub fn route() -> Route<Payin> {
    Route::post("/api/payin/deposits/resolve", resolve_deposit)
        .signed("payin.resolve")
        .needs_setting("operators", &OperatorError::NoOperators)
        .per_minute(60)
        .summary("Give a deposit to a quote, dismiss it, or take it from a quote that cannot be paid; for operators")
        .description(
            "With `quoteId` the deposit belongs to this quote, which has none and is not paid, and coins are paid for what arrived, at the \
             quote's price. Without it the deposit is dismissed, after a refund by hand. With `endQuote` it is taken \
             from a quote that cannot be paid, which has then failed.",
        )
}

async fn resolve_deposit(
    cx: RequestContext<Payin>,
    Signed { signer, mut payload }: Signed<Resolution>,
) -> Result<Json<DepositView>, HandlerError<OperatorError>> {
    check_operator(cx.plugin(), signer)?;
    payload.note = payload.note.chars().take(NOTE_CHARS_MAX).collect();
    let (id, decision) = (payload.deposit_id, payload.decision());
    let deposit = cx
        .write(async move |tx| {
            resolve(tx, signer, &payload).await?;
            Ok(deposits::find(tx, id).await?.ok_or(OperatorError::UnknownDeposit(id))?)
        })
        .await?;
    cx.info(&format!("the operator {signer} resolved deposit {id}: {decision}"));
    let chain = cx.plugin().chain(&deposit.chain);
    Ok(Json(DepositView::new(deposit, chain)))
}

async fn resolve(tx: &Tx, operator: Address, resolution: &Resolution) -> Result<(), HandlerError<OperatorError>> {
    let Resolution { deposit_id, quote_id, note, end_quote } = resolution;
    let deposit = deposits::find(tx, *deposit_id).await?.ok_or(OperatorError::UnknownDeposit(*deposit_id))?;
    if *end_quote {
        return end_quote_of(tx, operator, &deposit, resolution).await;
    }
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

impl Resolution {
    /// For the log.
    fn decision(&self) -> String {
        match &self.quote_id {
            _ if self.end_quote => "taken from its quote, which has ended".to_owned(),
            Some(quote) => format!("assigned to {quote}"),
            None => "dismissed".to_owned(),
        }
    }
}

async fn end_quote_of(
    tx: &Tx,
    operator: Address,
    deposit: &Deposit,
    Resolution { quote_id, note, .. }: &Resolution,
) -> Result<(), HandlerError<OperatorError>> {
    let quote = match &deposit.quote {
        Some(id) if quote_id.as_ref().is_none_or(|asked| asked == id) => quotes::find(tx, id).await?,
        _ => None,
    };
    let quote = quote.filter(|quote| quote.deposit == Some(deposit.id));
    let Some(quote) = quote else {
        return Err(OperatorError::NotResolvable("the deposit is not that of the quote").into());
    };
    if !quotes::end_unpaid(tx, &quote, &format!("ended by {operator} ({note})")).await? {
        return Err(OperatorError::NotResolvable("a payout of its quote is recorded").into());
    }
    deposits::take_from_ended(tx, deposit.id, &format!("its quote {} was ended by {operator}", quote.id)).await?;
    Ok(())
}
