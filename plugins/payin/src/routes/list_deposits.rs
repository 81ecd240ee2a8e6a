//! `GET /api/payin/deposits`: all deposits, for operators, with what they may do about each.

use super::check_operator;
use crate::{
    Payin,
    error::OperatorError,
    model::{Deposit, DepositState, DepositView},
    store::deposits::DEPOSITS,
};
use plugin_api::{HandlerError, JsonSchema, Listed, Page, QueryString, RequestContext, Route, extract::SignedBy};
use serde::Deserialize;

/// Which deposits.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct DepositQuery {
    /// `new`, `matched`, `unmatched`, `gone` or `dismissed`; all by default.
    #[serde(default)]
    pub state: Option<DepositState>,
}

pub fn route() -> Route<Payin> {
    Route::get("/api/payin/deposits", list_deposits)
        .signed_headers("payin.deposits")
        .needs_setting("operators", &OperatorError::NoOperators)
        .per_minute(60)
        .cache_control("private, no-store")
        .summary("Deposits, the newest first, with what may be done about those that match no quote; for operators")
        .example("GET /api/payin/deposits?state=unmatched signed as payin.deposits")
}

async fn list_deposits(
    cx: RequestContext<Payin>,
    SignedBy(signer): SignedBy,
    Page { limit, offset }: Page<50, 200>,
    QueryString(query): QueryString<DepositQuery>,
) -> Result<Listed<DepositView>, HandlerError<OperatorError>> {
    check_operator(cx.plugin(), signer)?;
    let list = DEPOSITS.filter("state = {}", query.state).page(limit, offset).fetch(&cx.db()).await?;
    let deposits: Vec<Deposit> = list.rows()?;
    let view = |deposit: Deposit| {
        let chain = cx.plugin().chain(&deposit.chain);
        DepositView::new(deposit, chain)
    };
    Ok(Listed::new(deposits.into_iter().map(view).collect(), list.total)?)
}
