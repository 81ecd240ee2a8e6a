//! `GET /api/payin/deposits`: all deposits, for operators, with what they may do about each.

use super::check_operator;
use crate::{
    Payin,
    error::OperatorError,
    jobs::is_lasting,
    model::{Deposit, DepositState, DepositView},
    store::deposits::{self, DEPOSITS},
};
use plugin_api::{
    HandlerError, HostError, JsonSchema, Listed, Page, QueryString, RequestContext, Route, extract::SignedBy,
};
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
    let deposits = match list.rows() {
        Err(error) if is_lasting(&error) => readable(&cx, list.rows()?).await?,
        deposits => deposits?,
    };
    let view = |deposit: Deposit| {
        let chain = cx.plugin().chain(&deposit.chain);
        DepositView::new(deposit, chain)
    };
    Ok(Listed::new(deposits.into_iter().map(view).collect(), list.total)?)
}

/// A row of which no more than this is read.
#[derive(Deserialize)]
struct Id {
    id: i64,
}

/// Those that can be read, one by one: one that cannot hides no other.
async fn readable(cx: &RequestContext<Payin>, ids: Vec<Id>) -> Result<Vec<Deposit>, HostError> {
    let mut readable = Vec::new();
    for Id { id } in ids {
        match deposits::find(&cx.db(), id).await {
            Err(error) if is_lasting(&error) => cx.error(&format!("deposit {id} is left out of the list: {error}")),
            deposit => readable.extend(deposit?),
        }
    }
    Ok(readable)
}
