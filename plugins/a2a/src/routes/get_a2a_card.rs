//! `GET /a/{slug}/.well-known/agent-card.json`: the agent's A2A card, where clients of 0.3 and later look for it.

use super::agent_call::unknown;
use crate::{
    A2a,
    error::A2aError,
    model::{Card, CardV1},
    store,
};
use plugin_api::{
    HandlerError, Json, Path, RequestContext, Route,
    contracts::registry::AgentName,
    extract::{HeaderName, HeaderValue},
    response::{IntoResponse, Response, WithHeader},
};

pub fn route() -> Route<A2a> {
    described(Route::get("/a/{slug}/.well-known/agent-card.json", get_a2a_card).public())
        .summary("The A2A card of an agent")
        .endpoint("a2aCard")
        .briefing("Agent cards", "the A2A card of one agent, by its id or name; its `url` takes messages")
        .example("GET /a/{slug}/.well-known/agent-card.json")
}

/// The two names of the card are one document.
pub fn described(route: Route<A2a>) -> Route<A2a> {
    route
        .cached()
        .cache_control("public, max-age=60")
        .description(
            "With `A2A-Version: 1.0` the card of that version alone, otherwise one that clients of every version read.",
        )
        .response::<Card>(200, "application/json", "OK")
}

/// The version that a client speaks.
pub struct A2aVersion;

impl HeaderName for A2aVersion {
    const NAME: &'static str = "a2a-version";
}

/// A card, which depends on the version that the client asked for.
pub enum CardResponse {
    Every(Box<Card>),
    V1(Box<CardV1>),
}

impl IntoResponse for CardResponse {
    fn into_response(self) -> Response {
        let (name, value) = ("vary".into(), "A2A-Version".into());
        match self {
            Self::Every(card) => WithHeader { response: Json(*card), name, value }.into_response(),
            Self::V1(card) => WithHeader { response: Json(*card), name, value }.into_response(),
        }
    }
}

async fn get_a2a_card(
    cx: RequestContext<A2a>,
    Path(segment): Path<String>,
    version: HeaderValue<A2aVersion>,
) -> Result<CardResponse, HandlerError<A2aError>> {
    card(&cx, &segment, version.0.as_deref()).await
}

pub async fn card(
    cx: &RequestContext<A2a>,
    segment: &str,
    version: Option<&str>,
) -> Result<CardResponse, HandlerError<A2aError>> {
    let name = AgentName::parse(segment).ok_or_else(|| unknown(segment))?;
    let agent = store::agents::find_card(&cx.db(), &name).await?.ok_or_else(|| unknown(segment))?;
    let segment = match name {
        AgentName::Id(id) => id.to_string(),
        AgentName::Slug(slug) => slug,
    };
    let card = Card::new(agent, &segment, cx.environment());
    Ok(match version.map(str::trim) {
        Some("1.0") => CardResponse::V1(Box::new(CardV1::new(card, cx.environment()))),
        _ => CardResponse::Every(Box::new(card)),
    })
}
