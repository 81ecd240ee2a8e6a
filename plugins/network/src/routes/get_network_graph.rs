//! `GET /api/network/graph.svg`: the largest edges as a picture. A job draws it.

use crate::{
    Network,
    model::{Graph, render},
    store::pictures,
};
use plugin_api::{
    HandlerError, RequestContext, Route,
    response::{RawResponse, WithHeader},
};

/// A browser that opens the picture executes and loads nothing.
const POLICY: &str = "default-src 'none'; sandbox";

pub fn route() -> Route<Network> {
    Route::get("/api/network/graph.svg", get_network_graph)
        .public()
        .cached()
        .cache_control("public, max-age=300")
        .per_minute(240)
        .summary("The hiring graph as a picture")
        .description("The largest edges by volume, between at most 500 agents and clients; drawn again within a minute of a change.")
        .endpoint("networkGraph")
        .briefing("Picture", "the largest edges of the hiring graph as SVG")
        .response::<String>(200, "image/svg+xml", "The picture")
}

async fn get_network_graph(cx: RequestContext<Network>) -> Result<WithHeader<RawResponse>, HandlerError> {
    let drawn = pictures::find(&cx.db()).await?;
    let svg = drawn.unwrap_or_else(|| render(&Graph::default(), &cx.environment().brand.network_name));
    let response = RawResponse { status: 200, content_type: "image/svg+xml".into(), body: svg.into_bytes().into() };
    Ok(WithHeader { response, name: "content-security-policy".into(), value: POLICY.into() })
}
