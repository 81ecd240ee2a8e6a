//! Responses from outside that are read, or passed on, while they arrive.

use crate::{Cx, Keeper};
use plugin_api::{
    Fetch, HandlerError, Json, JsonBody, JsonSchema, Route,
    handles::{FetchBody, FetchError, FfiBytes},
    response::StreamBody,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// Bodies that the plugin forgets to drop.
static FORGOTTEN: Mutex<Vec<FetchBody>> = Mutex::new(Vec::new());

#[derive(Deserialize, JsonSchema)]
struct Source {
    url: String,
    #[serde(default)]
    idle_ms: Option<u64>,
    #[serde(default)]
    redirects_max: u8,
}

impl Source {
    fn fetch(self) -> Fetch {
        let fetch = Fetch::get(self.url).timeout(Duration::from_secs(1)).redirects_max(self.redirects_max);
        self.idle_ms.into_iter().fold(fetch, |fetch, idle_ms| fetch.idle_timeout(Duration::from_millis(idle_ms)))
    }
}

pub fn routes() -> [Route<Keeper>; 4] {
    [
        Route::post("/api/keeper/relay", relay).public().timeout_ms(1000),
        Route::post("/api/keeper/relay_late", relay_late).public().timeout_ms(1000),
        Route::post("/api/keeper/read", read).public().timeout_ms(30_000),
        Route::post("/api/keeper/forget", forget).public(),
    ]
}

/// Status and body of the source, from its first byte on.
async fn relay(cx: Cx, JsonBody(source): JsonBody<Source>) -> Result<StreamBody<FetchBody>, HandlerError> {
    let response = source.fetch().stream(&cx).await?;
    Ok(StreamBody::new(&cx, "text/event-stream", response.body).status(response.status).head_at_once())
}

/// The same with the first chunk.
async fn relay_late(cx: Cx, JsonBody(source): JsonBody<Source>) -> Result<StreamBody<FetchBody>, HandlerError> {
    let response = source.fetch().stream(&cx).await?.error_for_status()?;
    Ok(StreamBody::new(&cx, "text/event-stream", response.body))
}

/// Reads the whole source itself: what came, and why it ended.
async fn read(cx: Cx, JsonBody(source): JsonBody<Source>) -> Result<Json<Value>, HandlerError> {
    let mut body = source.fetch().stream(&cx).await?.error_for_status()?.body;
    let mut text = String::new();
    let end = loop {
        let chunk: Result<Option<FfiBytes>, FetchError> = body.chunk().await;
        match chunk {
            Ok(Some(chunk)) => text.push_str(&String::from_utf8_lossy(&chunk)),
            Ok(None) => break "complete".to_owned(),
            Err(error) => break error.to_string(),
        }
    };
    Ok(Json(json!({ "text": text, "end": end })))
}

async fn forget(cx: Cx, JsonBody(source): JsonBody<Source>) -> Result<Json<u16>, HandlerError> {
    let response = source.fetch().stream(&cx).await?;
    FORGOTTEN.lock().unwrap_or_else(PoisonError::into_inner).push(response.body);
    Ok(Json(response.status))
}
