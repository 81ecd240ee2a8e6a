//! Handlers that panic, each in another place.

use crate::Hostile;
use plugin_api::{
    HandlerError, Json, JsonSchema, Path, RequestContext, Route,
    extract::{FromRequest, Request},
    response::Problem,
};
use serde::{Serialize, Serializer};
use std::{panic::panic_any, time::Duration};

type Number = Result<Json<i64>, HandlerError>;

pub fn routes() -> Vec<Route<Hostile>> {
    vec![
        Route::get("/api/hostile/panic_at_once", panic_at_once).public(),
        Route::get("/api/hostile/panic_after_await", panic_after_await).public(),
        Route::get("/api/hostile/panic_in_extractor", panic_in_extractor).public(),
        Route::get("/api/hostile/panic_in_serializer", panic_in_serializer).public(),
        Route::get("/api/hostile/panic_with_evil_payload", panic_with_evil_payload).public(),
        Route::get("/api/hostile/panic_on/{number}", panic_on_odd).public(),
        Route::get("/api/hostile/panic_in_thread", panic_in_thread).public(),
        Route::get("/api/hostile/panic_in_task", panic_in_task).public(),
        Route::get("/api/hostile/panic_in_blocking", panic_in_blocking).public(),
    ]
}

/// Panics before it returns a future.
fn panic_at_once(_: RequestContext<Hostile>) -> std::future::Ready<Number> {
    panic_any("at once")
}

async fn panic_after_await(cx: RequestContext<Hostile>) -> Number {
    cx.sleep(Duration::ZERO).await;
    panic_any("after an await")
}

struct EvilExtractor;

impl FromRequest for EvilExtractor {
    fn from_request(_: &mut Request) -> Result<Self, Problem> {
        panic_any("in an extractor")
    }
}

async fn panic_in_extractor(_: RequestContext<Hostile>, _: EvilExtractor) -> Number {
    Ok(Json(0))
}

#[derive(JsonSchema)]
struct EvilResponse;

impl Serialize for EvilResponse {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic_any("in a serializer")
    }
}

async fn panic_in_serializer(_: RequestContext<Hostile>) -> Result<Json<EvilResponse>, HandlerError> {
    Ok(Json(EvilResponse))
}

/// A panic payload whose drop panics with another one.
struct EvilPayload;

impl Drop for EvilPayload {
    fn drop(&mut self) {
        panic_any(Self)
    }
}

async fn panic_with_evil_payload(_: RequestContext<Hostile>) -> Number {
    panic_any(EvilPayload)
}

/// Only some requests are its undoing.
async fn panic_on_odd(_: RequestContext<Hostile>, Path(number): Path<i64>) -> Number {
    if number % 2 == 0 { Ok(Json(number)) } else { panic_any("on an odd number") }
}

async fn panic_in_thread(_: RequestContext<Hostile>) -> Number {
    let thread = std::thread::spawn(|| panic_any("in a thread"));
    Ok(Json(i64::from(thread.join().is_err())))
}

async fn panic_in_task(cx: RequestContext<Hostile>) -> Number {
    cx.spawn("evil_task", async { panic_any("in a task") });
    Ok(Json(0))
}

async fn panic_in_blocking(cx: RequestContext<Hostile>) -> Number {
    Ok(Json(cx.blocking(|| panic_any("in blocking work")).await?))
}
