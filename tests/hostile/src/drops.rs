//! Values whose drop panics, and handlers that do not end.

use crate::{Hostile, config::block};
use plugin_api::{HandlerError, Json, RequestContext, Route};
use std::{future::pending, panic::panic_any, time::Duration};

const LIMIT_MS: u64 = 300;

pub fn routes() -> Vec<Route<Hostile>> {
    vec![
        Route::get("/api/hostile/panic_in_drop", panic_in_drop).public(),
        Route::get("/api/hostile/panic_in_cancelled_drop", panic_in_cancelled_drop).public().timeout_ms(LIMIT_MS),
        Route::get("/api/hostile/hang", hang).public().timeout_ms(LIMIT_MS),
        Route::get("/api/hostile/wait", wait).public(),
        Route::get("/api/hostile/block", block_thread).public(),
        Route::get("/api/hostile/block_for_long", block_for_long).public(),
        Route::get("/api/hostile/block_for_ever", block_for_ever).public(),
    ]
}

struct EvilDrop(&'static str);

impl Drop for EvilDrop {
    fn drop(&mut self) {
        panic_any(self.0)
    }
}

async fn panic_in_drop(_: RequestContext<Hostile>) -> Result<Json<i64>, HandlerError> {
    let _evil = EvilDrop("in a local's drop");
    Ok(Json(0))
}

async fn panic_in_cancelled_drop(_: RequestContext<Hostile>) -> Result<Json<i64>, HandlerError> {
    let _evil = EvilDrop("in the drop of a future");
    pending().await
}

async fn hang(_: RequestContext<Hostile>) -> Result<Json<i64>, HandlerError> {
    pending().await
}

/// Hangs until the client disconnects: the default time limit is long.
async fn wait(_: RequestContext<Hostile>) -> Result<Json<i64>, HandlerError> {
    pending().await
}

/// Blocks for longer than it takes to be found, and then goes on.
async fn block_for_long(_: RequestContext<Hostile>) -> Result<Json<i64>, HandlerError> {
    block(Duration::from_secs(5));
    Ok(Json(0))
}

/// Longer than any test, and without a processor.
async fn block_for_ever(_: RequestContext<Hostile>) -> Result<Json<i64>, HandlerError> {
    block(Duration::from_secs(86_400));
    Ok(Json(0))
}

async fn block_thread(_: RequestContext<Hostile>) -> Result<Json<i64>, HandlerError> {
    block(Duration::from_secs(2));
    Ok(Json(0))
}
