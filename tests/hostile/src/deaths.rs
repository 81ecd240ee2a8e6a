//! Code that ends the process: it cannot be contained, only named afterwards.

use crate::{Hostile, config::block};
use plugin_api::{HandlerError, Json, RequestContext, Route};
use std::time::Duration;

type Number = Result<Json<i64>, HandlerError>;

pub fn routes() -> Vec<Route<Hostile>> {
    vec![
        Route::get("/api/hostile/exit", exit_in_handler).public(),
        Route::get("/api/hostile/abort", abort_in_handler).public(),
        Route::get("/api/hostile/abort_in_blocking", abort_in_blocking).public(),
        Route::get("/api/hostile/abort_in_task", abort_in_task).public(),
        Route::get("/api/hostile/overflow", overflow_the_stack).public(),
    ]
}

#[allow(clippy::disallowed_methods, reason = "that is what this plugin is for")]
pub(crate) fn exit() -> ! {
    std::process::exit(7)
}

async fn exit_in_handler(_: RequestContext<Hostile>) -> Number {
    exit()
}

async fn abort_in_handler(_: RequestContext<Hostile>) -> Number {
    std::process::abort()
}

/// When the handler is not polled any more.
async fn abort_in_blocking(cx: RequestContext<Hostile>) -> Number {
    let work = || -> i64 {
        block(Duration::from_millis(300));
        std::process::abort()
    };
    Ok(Json(cx.blocking(work).await?))
}

async fn abort_in_task(cx: RequestContext<Hostile>) -> Number {
    cx.spawn("aborting_task", async { std::process::abort() });
    Ok(Json(0))
}

async fn overflow_the_stack(_: RequestContext<Hostile>) -> Number {
    Ok(Json(descend(1)))
}

/// Not a loop, also for an optimiser: each step needs memory of its own after the next one.
fn descend(depth: i64) -> i64 {
    let frame = std::hint::black_box([depth; 128]);
    if depth < 0 { 0 } else { descend(depth + 1) + std::hint::black_box(frame)[127] }
}
