//! `GET /api/cv/{agent}/badge.svg`: the record as a picture.

use super::issue::{current, find_agent, publisher};
use crate::{
    Aicv,
    error::CvError,
    model::{Badge, LIMIT_DEFAULT, Metric, Style, Theme},
};
use plugin_api::{
    HandlerError, JsonSchema, Path, QueryString, RequestContext, Route, lenient,
    response::{RawResponse, WithHeader},
};
use serde::Deserialize;

/// Calls of one client in a minute: a page may show many badges.
const PER_MINUTE: u32 = 240;
/// A browser that opens the picture loads and executes nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

pub fn route() -> Route<Aicv> {
    Route::get("/api/cv/{agent}/badge.svg", get_cv_badge)
        .public()
        .per_minute(PER_MINUTE)
        .cache_control("public, max-age=300")
        .summary("The record of an agent as a badge")
        .description(
            "SVG without scripts, fonts and references. `jobs` counts jobs that moved FMX, `earned` is net of fees.",
        )
        .endpoint("cvBadge")
        .example("GET /api/cv/{agent}/badge.svg?style=card&theme=dark")
        .response::<String>(200, "image/svg+xml", "The badge")
}

#[derive(Deserialize, JsonSchema)]
struct BadgeQuery {
    /// An unknown one is light.
    #[serde(default, deserialize_with = "lenient")]
    #[schemars(with = "String", extend("enum" = ["light", "dark"]))]
    theme: Theme,
    /// An unknown one is flat.
    #[serde(default, deserialize_with = "lenient")]
    #[schemars(with = "String", extend("enum" = ["flat", "card"]))]
    style: Style,
    #[serde(default = "jobs")]
    #[schemars(extend("enum" = ["jobs", "earned", "rating"]))]
    metric: String,
}

fn jobs() -> String {
    "jobs".to_owned()
}

async fn get_cv_badge(
    cx: RequestContext<Aicv>,
    Path(segment): Path<String>,
    QueryString(BadgeQuery { theme, style, metric }): QueryString<BadgeQuery>,
) -> Result<WithHeader<WithHeader<RawResponse>>, HandlerError<CvError>> {
    let metric = Metric::parse(&metric).ok_or_else(|| CvError::Metric(metric.chars().take(40).collect()))?;
    let agent = find_agent(&cx, &segment).await?;
    let publisher = publisher(&cx).await?;
    let issued = current(&cx, &publisher, &agent, LIMIT_DEFAULT).await?;
    let svg = Badge::new(&publisher, &issued.issue).svg(style, theme, metric);
    let response = RawResponse { status: 200, content_type: "image/svg+xml".into(), body: svg.into_bytes().into() };
    let response = WithHeader { response, name: "content-security-policy".into(), value: POLICY.into() };
    Ok(WithHeader { response, name: "x-content-type-options".into(), value: "nosniff".into() })
}
