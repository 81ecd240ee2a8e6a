//! Code that never leaves the processor, each in another place.

use crate::Hostile;
use futures_util::{Stream, StreamExt as _, stream};
use plugin_api::{HandlerError, HostError, Json, RequestContext, Route, abi::FfiBytes, response::StreamBody, sql};
use std::future::{Ready, pending};

type Number = Result<Json<i64>, HandlerError>;

pub fn routes() -> Vec<Route<Hostile>> {
    vec![
        Route::get("/api/hostile/spin", spin_in_handler).public(),
        Route::get("/api/hostile/spin_at_once", spin_at_once).public(),
        Route::get("/api/hostile/spin_in_drop", spin_in_drop).public().timeout_ms(300),
        Route::get("/api/hostile/spin_in_stream", spin_in_stream).public(),
        Route::get("/api/hostile/spin_in_write", spin_in_write).public(),
        Route::get("/api/hostile/spin_in_task", spin_in_task).public(),
    ]
}

/// For ever.
pub(crate) fn spin() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

async fn spin_in_handler(_: RequestContext<Hostile>) -> Number {
    spin()
}

/// Spins before it returns a future.
fn spin_at_once(_: RequestContext<Hostile>) -> Ready<Number> {
    spin()
}

/// With an open transaction of its own, which has written.
async fn spin_in_write(cx: RequestContext<Hostile>) -> Number {
    let tx = cx.begin();
    tx.execute(sql("INSERT INTO hostile_rows (note) VALUES ('and spin')")).await?;
    spin()
}

struct SpinningDrop;

impl Drop for SpinningDrop {
    fn drop(&mut self) {
        spin()
    }
}

async fn spin_in_drop(_: RequestContext<Hostile>) -> Number {
    let _spinning = SpinningDrop;
    pending().await
}

async fn spin_in_stream(
    cx: RequestContext<Hostile>,
) -> Result<StreamBody<impl Stream<Item = Result<FfiBytes, HostError>>>, HandlerError> {
    let first = Ok(FfiBytes::from(b"first".to_vec()));
    let chunks = stream::iter([first]).chain(stream::iter(0..).map(|_| spin()));
    Ok(StreamBody::new(&cx, "image/png", chunks))
}

async fn spin_in_task(cx: RequestContext<Hostile>) -> Number {
    cx.spawn("spinning_task", async { spin() });
    Ok(Json(0))
}
