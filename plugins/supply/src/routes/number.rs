//! What the routes of one number have in common. The rule: as text, the body is exactly one number, also for programs that look at nothing
//! else; where there is none, it is no number, with a status of 503.

use super::latest::latest;
use crate::{
    Supply,
    error::{NumberError, SupplyError},
    model::{Snapshot, number},
};
use plugin_api::{
    ApiError, HandlerError, Json, JsonSchema, RequestContext, Wei,
    extract::RouteDescription,
    response::{IntoResponse, RawResponse, Response, Text, WithHeader},
};
use serde::{Deserialize, Serialize};

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NumberQuery {
    /// `text` (default) or `json`.
    format: String,
}

/// Which number.
#[derive(Clone, Copy)]
pub enum Figure {
    Total,
    Circulating,
    Max,
}

/// One of the numbers, with its unit and block.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NumberView {
    /// In whole coins, with all decimals; of the route `/api/supply/total`.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_supply: Option<String>,
    /// Of the route `/api/supply/circulating`.
    #[serde(skip_serializing_if = "Option::is_none")]
    circulating_supply: Option<String>,
    /// Of the route `/api/supply/max`.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_supply: Option<String>,
    wei: Wei,
    symbol: String,
    decimals: u8,
    as_of_block: u64,
    /// What the number means.
    definition: String,
    /// The path of everything that the number is made of.
    breakdown: &'static str,
    /// True when a newer number could not be had; otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    stale: Option<bool>,
}

pub enum NumberResponse {
    Text(String),
    Json(Box<NumberView>),
    /// The refusal of a request for text.
    Refused(SupplyError),
}

impl IntoResponse for NumberResponse {
    fn describe(describe: &mut RouteDescription<'_>) {
        Text::describe(describe);
        Json::<NumberView>::describe(describe);
    }

    fn into_response(self) -> Response {
        let error = match self {
            Self::Text(number) => return Text(number.into()).into_response(),
            Self::Json(view) => return Json(*view).into_response(),
            Self::Refused(error) => error,
        };
        let (retry_after, cache_control) = (error.header_value("retry-after"), error.header_value("cache-control"));
        let response = RawResponse {
            status: error.spec().status,
            content_type: "text/plain; charset=utf-8".into(),
            body: error.to_string().into_bytes().into(),
        };
        let value = cache_control.unwrap_or_else(|| "no-store".to_owned()).into();
        let response = WithHeader { response, name: "cache-control".into(), value };
        match retry_after {
            Some(seconds) => WithHeader { response, name: "retry-after".into(), value: seconds.into() }.into_response(),
            None => response.into_response(),
        }
    }
}

/// Responds with one number, as the query says.
pub async fn respond(
    cx: &RequestContext<Supply>,
    query: &NumberQuery,
    figure: Figure,
) -> Result<NumberResponse, HandlerError<NumberError>> {
    let is_json = match query.format.as_str() {
        "" | "text" => false,
        "json" => true,
        _ => return Err(NumberError::Format.into()),
    };
    match latest(cx).await {
        Ok(snapshot) if is_json => Ok(NumberResponse::Json(Box::new(view(snapshot, figure)))),
        Ok(snapshot) => Ok(NumberResponse::Text(number(wei(&snapshot, figure)))),
        Err(HandlerError::Caller(error)) if is_json => Err(NumberError::from(error).into()),
        Err(HandlerError::Caller(error)) => Ok(NumberResponse::Refused(error)),
        Err(HandlerError::Problem(problem)) => Err(HandlerError::Problem(problem)),
        Err(HandlerError::Host(error)) => Err(error.into()),
    }
}

fn wei(snapshot: &Snapshot, figure: Figure) -> Wei {
    match figure {
        Figure::Total => snapshot.wei.total,
        Figure::Circulating => snapshot.wei.circulating,
        Figure::Max => snapshot.wei.max,
    }
}

fn view(snapshot: Snapshot, figure: Figure) -> NumberView {
    let wei = wei(&snapshot, figure);
    let definitions = snapshot.definitions;
    let (mut total_supply, mut circulating_supply, mut max_supply) = (None, None, None);
    let definition = match figure {
        Figure::Total => {
            total_supply = Some(snapshot.total_supply);
            definitions.total
        }
        Figure::Circulating => {
            circulating_supply = Some(snapshot.circulating_supply);
            definitions.circulating
        }
        Figure::Max => {
            max_supply = Some(snapshot.max_supply);
            definitions.max
        }
    };
    NumberView {
        total_supply,
        circulating_supply,
        max_supply,
        wei,
        symbol: snapshot.symbol,
        decimals: snapshot.decimals,
        as_of_block: snapshot.as_of_block,
        definition,
        breakdown: "/api/supply",
        stale: snapshot.stale,
    }
}
