//! A plugin that lets its caller choose where the gateway connects to.

use crate::Hostile;
use plugin_api::{Body, Failure, Fetch, Json, RequestContext, Route};
use std::time::Duration;

pub fn routes() -> Vec<Route<Hostile>> {
    vec![Route::post("/api/hostile/fetch", fetch).public()]
}

/// The body is a URL; answers what came back, or the capability's refusal as text.
async fn fetch(cx: RequestContext<Hostile>, Body(url): Body) -> Result<Json<String>, Failure> {
    let url = String::from_utf8_lossy(&url).into_owned();
    let fetched = Fetch::get(url).timeout(Duration::from_secs(5)).response_bytes_max(1024).send(&cx).await;
    Ok(Json(match fetched {
        Ok(answer) => format!("{} {}", answer.status, String::from_utf8_lossy(&answer.body)),
        Err(refusal) => refusal.message.to_string(),
    }))
}
