//! Responses that are invalid in HTTP, giant ones, and streams that fail.

use crate::Hostile;
use futures_util::{Stream, StreamExt as _, stream};
use plugin_api::{
    HandlerError, HostError, RequestContext, Route,
    abi::{FfiBytes, HostErrorCode},
    manifest::Subscription,
    response::{RawResponse, StreamBody, Text, WithHeader},
    stream::Topic,
};
use std::panic::panic_any;

const MIB: usize = 1024 * 1024;
const GIANT_MIB: usize = 64;

pub fn routes() -> Vec<Route<Hostile>> {
    vec![
        Route::get("/api/hostile/giant_body", giant_body).public(),
        Route::get("/api/hostile/giant_stream", giant_stream).public(),
        Route::get("/api/hostile/stream_panics_first", stream_panics_first).public(),
        Route::get("/api/hostile/stream_panics_later", stream_panics_later).public(),
        Route::get("/api/hostile/stream_fails_first", stream_fails_first).public(),
        Route::get("/api/hostile/stream_hangs_first", stream_hangs_first).public().timeout_ms(300),
        Route::get("/api/hostile/stream_endless", stream_endless).public(),
        Route::get("/api/hostile/topic", topic).public(),
        Route::get("/api/hostile/header_name", header_name).public(),
        Route::get("/api/hostile/header_value", header_value).public(),
        Route::get("/api/hostile/header_length", header_length).public(),
        Route::get("/api/hostile/header_many", header_many).public(),
        Route::get("/api/hostile/status_99", status_99).public(),
        Route::get("/api/hostile/status_101", status_101).public(),
    ]
}

type HeaderResult = Result<WithHeader<Text>, HandlerError>;

fn chunk() -> FfiBytes {
    FfiBytes::from(vec![b'x'; MIB])
}

async fn giant_body(_: RequestContext<Hostile>) -> Result<RawResponse, HandlerError> {
    Ok(RawResponse { status: 200, content_type: "image/png".into(), body: vec![b'x'; GIANT_MIB * MIB].into() })
}

async fn giant_stream(
    cx: RequestContext<Hostile>,
) -> Result<StreamBody<impl Stream<Item = Result<FfiBytes, HostError>>>, HandlerError> {
    let chunks = stream::iter(0..GIANT_MIB).map(|_| Ok(chunk()));
    Ok(StreamBody::new(&cx, "image/png", chunks))
}

/// Yields `good` chunks, then panics.
fn panicking_stream(good: usize) -> impl Stream<Item = Result<FfiBytes, HostError>> {
    stream::iter(0..).map(move |number| if number < good { Ok(chunk()) } else { panic_any("in a stream") })
}

/// Frames are rendered only for a reader: see `frames` in lib.rs.
async fn topic(_: RequestContext<Hostile>) -> Result<Topic, HandlerError> {
    Ok(Topic(Subscription { topic: "hostile".to_owned(), ..Subscription::default() }))
}

async fn stream_panics_first(
    cx: RequestContext<Hostile>,
) -> Result<StreamBody<impl Stream<Item = Result<FfiBytes, HostError>>>, HandlerError> {
    Ok(StreamBody::new(&cx, "image/png", panicking_stream(0)))
}

async fn stream_panics_later(
    cx: RequestContext<Hostile>,
) -> Result<StreamBody<impl Stream<Item = Result<FfiBytes, HostError>>>, HandlerError> {
    Ok(StreamBody::new(&cx, "image/png", panicking_stream(2)))
}

async fn stream_fails_first(
    cx: RequestContext<Hostile>,
) -> Result<StreamBody<impl Stream<Item = Result<FfiBytes, HostError>>>, HandlerError> {
    let failed = stream::iter([Err(HostError::new(HostErrorCode::Internal, "no first chunk"))]);
    Ok(StreamBody::new(&cx, "image/png", failed))
}

async fn stream_hangs_first(
    cx: RequestContext<Hostile>,
) -> Result<StreamBody<impl Stream<Item = Result<FfiBytes, HostError>>>, HandlerError> {
    Ok(StreamBody::new(&cx, "image/png", stream::pending()))
}

async fn stream_endless(
    cx: RequestContext<Hostile>,
) -> Result<StreamBody<impl Stream<Item = Result<FfiBytes, HostError>>>, HandlerError> {
    let chunks = stream::iter([Ok(FfiBytes::from(b"first".to_vec()))]).chain(stream::pending());
    Ok(StreamBody::new(&cx, "image/png", chunks))
}

fn with_header(name: &'static str, value: &'static str) -> HeaderResult {
    Ok(WithHeader { response: Text("fine".into()), name: name.into(), value: value.into() })
}

async fn header_name(_: RequestContext<Hostile>) -> HeaderResult {
    with_header("not a name", "x")
}

async fn header_value(_: RequestContext<Hostile>) -> HeaderResult {
    with_header("x-split", "a\r\nset-cookie: b")
}

async fn header_length(_: RequestContext<Hostile>) -> HeaderResult {
    with_header("content-length", "1")
}

struct ManyHeaders;

impl plugin_api::response::IntoResponse for ManyHeaders {
    fn into_response(self) -> plugin_api::abi::Response {
        let mut response = Text("fine".into()).into_response();
        for number in 0..100_000 {
            let one = WithHeader { response: Text("".into()), name: format!("x-{number}").into(), value: "x".into() };
            response.headers.extend(one.into_response().headers.into_iter().skip(1));
        }
        response
    }
}

async fn header_many(_: RequestContext<Hostile>) -> Result<ManyHeaders, HandlerError> {
    Ok(ManyHeaders)
}

fn with_status(status: u16) -> RawResponse {
    RawResponse { status, content_type: "text/plain".into(), body: b"fine".to_vec().into() }
}

async fn status_99(cx: RequestContext<Hostile>) -> Result<RawResponse, HandlerError> {
    crate::data::write_row(&cx, "before status 99").await?;
    Ok(with_status(99))
}

async fn status_101(_: RequestContext<Hostile>) -> Result<RawResponse, HandlerError> {
    Ok(with_status(101))
}
