//! A fetch with JSON, and what became of it.

use crate::{Cx, Keeper};
use plugin_api::{Fetch, HandlerError, Json, JsonBody, JsonSchema, Route, handles::FetchError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Deserialize, JsonSchema)]
struct Errand {
    url: String,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    bytes_max: Option<u64>,
}

#[derive(Serialize)]
struct Question {
    text: &'static str,
}

#[derive(Deserialize)]
struct Reply {
    number: i64,
}

pub fn routes() -> [Route<Keeper>; 1] {
    [Route::post("/api/keeper/errands", run_errand).public()]
}

async fn run_errand(cx: Cx, JsonBody(errand): JsonBody<Errand>) -> Result<Json<Value>, HandlerError> {
    Ok(Json(match ask(&cx, errand).await {
        Ok(value) => value,
        Err(error) => json!({ "error": kind(&error), "text": error.to_string() }),
    }))
}

async fn ask(cx: &Cx, errand: Errand) -> Result<Value, FetchError> {
    let method = errand.method.as_deref().unwrap_or("POST");
    let mut fetch =
        Fetch::new(method, errand.url).json(&Question { text: "how many?" }).timeout(Duration::from_secs(1));
    if let Some(bytes) = errand.bytes_max {
        fetch = fetch.response_bytes_max(bytes);
    }
    let response = fetch.send(cx).await?.error_for_status()?;
    let shelf = response.header("X-Shelf").map(str::to_owned);
    let Reply { number } = response.json()?;
    Ok(json!({ "status": response.status, "shelf": shelf, "number": number }))
}

fn kind(error: &FetchError) -> &'static str {
    match error {
        FetchError::Refused(_) => "refused",
        FetchError::Invalid(_) => "invalid",
        FetchError::Timeout(_) => "timeout",
        FetchError::Connect(_) => "connect",
        FetchError::TooLarge(_) => "too_large",
        FetchError::Broken(_) => "broken",
        FetchError::Status(_) => "status",
        FetchError::Json(_) => "json",
        _ => "other",
    }
}
