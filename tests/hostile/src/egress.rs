//! A route that lets its caller choose the host to which the gateway connects.

use crate::Hostile;
use plugin_api::{Fetch, HandlerError, HostError, Json, RequestContext, Route, extract::Body};
use std::time::Duration;

pub fn routes() -> Vec<Route<Hostile>> {
    vec![Route::post("/api/hostile/fetch", fetch).public()]
}

/// The body is a URL; returns status and body of the response, or the capability's error, as text.
async fn fetch(cx: RequestContext<Hostile>, Body(url): Body) -> Result<Json<String>, HandlerError> {
    let url = String::from_utf8_lossy(&url).into_owned();
    let response = Fetch::get(url).timeout(Duration::from_secs(5)).response_bytes_max(1024).send(&cx).await;
    Ok(Json(match response {
        Ok(response) => format!("{} {}", response.status, String::from_utf8_lossy(&response.body)),
        Err(error) => HostError::from(error).message.to_string(),
    }))
}
