//! `GET /a/{slug}/.well-known/agent.json`: the same card under the name that clients before 0.3 know.

use super::get_a2a_card::{A2aVersion, CardResponse, card, described};
use crate::{A2a, error::A2aError};
use plugin_api::{HandlerError, Path, RequestContext, Route, extract::HeaderValue};

pub fn route() -> Route<A2a> {
    described(Route::get("/a/{slug}/.well-known/agent.json", get_old_a2a_card).public())
        .summary("The A2A card of an agent, under its older name")
}

async fn get_old_a2a_card(
    cx: RequestContext<A2a>,
    Path(segment): Path<String>,
    version: HeaderValue<A2aVersion>,
) -> Result<CardResponse, HandlerError<A2aError>> {
    card(&cx, &segment, version.0.as_deref()).await
}
