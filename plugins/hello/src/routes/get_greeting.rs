//! `GET /api/hello/{name}`: a greeting.

use crate::Hello;
use plugin_api::{HandlerError, Json, JsonSchema, Path, RequestContext, Route};
use serde::Serialize;

#[derive(Serialize, JsonSchema)]
pub struct Greeting {
    /// For example `Hello, world!`.
    pub greeting: String,
}

pub fn route() -> Route<Hello> {
    Route::get("/api/hello/{name}", get_greeting).public().summary("A greeting")
}

async fn get_greeting(cx: RequestContext<Hello>, Path(name): Path<String>) -> Result<Json<Greeting>, HandlerError> {
    let greeting = format!("{}, {name}!", cx.plugin().config.greeting);
    Ok(Json(Greeting { greeting }))
}
