//! `GET /api/payin/{quoteId}`: what became of a quote.

use super::disabled;
use crate::{
    Payin,
    error::UnknownQuote,
    model::StatusView,
    store::{history, quotes},
};
use plugin_api::{HandlerError, Json, Path, RequestContext, Route, chain::MAIN};

pub fn route() -> Route<Payin> {
    Route::get("/api/payin/{quoteId}", get_quote)
        .public()
        .summary("What became of a quote, its deposit and its payout")
        .example("GET /api/payin/q_0123456789abcdef")
}

async fn get_quote(
    cx: RequestContext<Payin>,
    Path(id): Path<String>,
) -> Result<Json<StatusView>, HandlerError<UnknownQuote>> {
    let db = cx.db();
    let Some(quote) = quotes::find(&db, &id).await? else {
        return Err(UnknownQuote(id.chars().take(32).collect()).into());
    };
    let history = history::of_quote(&db, &quote.id).await?;
    let chain = cx.plugin().chain(&quote.chain);
    let main = (MAIN, cx.environment().chain_id);
    Ok(Json(quote.into_status_view(chain, main, disabled(&cx).await?, history)))
}
