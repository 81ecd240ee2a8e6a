//! Turns a plugin's response into an HTTP response.

use super::call::Call;
use crate::{error_response::ErrorResponse, lifecycle::Topics};
use abi_stable::std_types::{RCow, RCowStr, RResult, Tuple2};
use async_ffi::{ContextExt as _, FfiPoll};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use gateway_activity::StreamLimits;
use gateway_http::body::Body;
use gateway_plugins::{
    InFlightGuard, PluginHandle,
    bounds::{
        RESPONSE_BODY_BYTES_MAX, RESPONSE_HEADER_BYTES_MAX, RESPONSE_HEADERS_MAX, STREAM_CHUNK_BYTES_MAX, excess,
    },
    polls::{PluginValue, PollGate},
};
use gateway_telemetry::request_id;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use http_body::Frame;
use http_body_util::StreamBody;
use plugin_api::{
    abi::{self, BodyStreamBox, Fault, FfiBytes},
    manifest::Subscription,
};
use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

/// What responses with a live stream need.
pub struct Streams {
    pub topics: Arc<Topics>,
    pub limits: StreamLimits,
}

/// The response to a call.
pub(crate) struct PluginResponse {
    pub response: Response<Body>,
    /// Its body, when authors are to be completed: see [`super::authors`].
    pub incomplete: Option<FfiBytes>,
}

pub(crate) async fn into_response(
    streams: &Streams,
    call: &Call<'_>,
    answer: abi::Response,
) -> Result<PluginResponse, ErrorResponse> {
    let operation = call.route.spec.operation.as_str();
    let (status, headers) = head(call, answer.status, answer.headers)?;
    check_size(call, &answer.body)?;
    let mut incomplete = None;
    let mut response = match answer.body {
        abi::Body::Full(bytes) if bytes.is_empty() => Response::new(Body::Empty),
        abi::Body::Full(bytes) => Response::new(Body::Full(Bytes::from_owner(bytes))),
        abi::Body::JsonWithAuthors(json) => {
            incomplete = Some(json);
            Response::new(Body::Empty)
        }
        abi::Body::Stream(chunks) => Response::new(Box::pin(chunked(chunks, call, operation)).await?),
        abi::Body::Topic(subscription) => Box::pin(topic_stream(streams, call, &subscription)).await?,
    };
    *response.status_mut() = status;
    if response.headers().is_empty() {
        *response.headers_mut() = headers;
    } else {
        response.headers_mut().extend(headers);
    }
    Ok(PluginResponse { response, incomplete })
}

fn check_size(call: &Call<'_>, body: &abi::Body) -> Result<(), ErrorResponse> {
    let (abi::Body::Full(bytes) | abi::Body::JsonWithAuthors(bytes)) = body else { return Ok(()) };
    excess("the body", bytes.len(), RESPONSE_BODY_BYTES_MAX).map_or(Ok(()), |reason| Err(broken(call, &reason)))
}

/// Capacity that includes the headers which the gateway adds.
const HEADERS_USUAL: usize = 12;

/// The gateway owns the connection: a plugin that sets how a body is framed could truncate or smuggle responses.
const THE_GATEWAYS_OWN: [HeaderName; 4] =
    [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION, header::UPGRADE];

fn head(
    call: &Call<'_>,
    status: u16,
    headers: impl IntoIterator<Item = Tuple2<RCowStr<'static>, RCowStr<'static>>>,
) -> Result<(StatusCode, HeaderMap), ErrorResponse> {
    let status = StatusCode::from_u16(status).map_err(|error| broken(call, &format!("status {status}: {error}")))?;
    if status.is_informational() {
        return Err(broken(call, &format!("status {status} is no final answer")));
    }
    let mut checked = HeaderMap::with_capacity(HEADERS_USUAL);
    let mut header_bytes = 0;
    for Tuple2(name, value) in headers {
        let problem = |reason: &str| broken(call, &format!("header {:?}: {reason}", name.as_str()));
        let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|error| problem(&error.to_string()))?;
        if THE_GATEWAYS_OWN.contains(&parsed) {
            return Err(problem("the gateway itself writes it"));
        }
        if checked.len() == RESPONSE_HEADERS_MAX {
            return Err(broken(call, &format!("more than {RESPONSE_HEADERS_MAX} headers")));
        }
        header_bytes += name.len() + value.len();
        if let Some(reason) = excess("its head", header_bytes, RESPONSE_HEADER_BYTES_MAX) {
            return Err(broken(call, &reason));
        }
        checked.append(parsed, header_value(value).map_err(|error| problem(&error.to_string()))?);
    }
    Ok((status, checked))
}

fn header_value(value: RCowStr<'static>) -> Result<HeaderValue, header::InvalidHeaderValue> {
    match value {
        RCow::Borrowed(text) => HeaderValue::from_str(text.as_str()),
        RCow::Owned(text) => HeaderValue::try_from(text.into_string()),
    }
}

/// A response that is not valid HTTP, or not what it says it is, is the plugin's fault.
pub(crate) fn broken(call: &Call<'_>, reason: &str) -> ErrorResponse {
    report(call, &format!("the answer cannot be sent: {reason}"));
    ErrorResponse::internal()
}

/// Reports a fault of the plugin in its response.
pub(crate) fn report(call: &Call<'_>, message: &str) {
    call.plugin.handle.error(&call.route.spec.operation, message.to_owned());
}

fn error_fault(message: String) -> Fault {
    Fault { kind: abi::FaultKind::Error, message: message.into(), location: Default::default() }
}

/// Why a body of chunks ends before its end: the client must not take it for complete.
#[derive(Debug, thiserror::Error)]
enum BrokenStream {
    /// Reported as a fault.
    #[error("the stream failed")]
    Plugin,
    #[error("the source of the stream broke off")]
    Source,
    #[error("the plugin was stopped")]
    Stopped,
}

/// A body of chunks from the plugin. The first one is awaited, so that an early failure still becomes an error response; an
/// empty one only sends the head.
async fn chunked(chunks: BodyStreamBox, call: &Call<'_>, operation: &str) -> Result<Body, ErrorResponse> {
    let handle = call.plugin.handle.clone();
    let in_flight = call.plugin.acquire().ok_or_else(|| ErrorResponse::not_serving(call.plugin))?;
    let chunks = PluginValue::new(handle.gate.clone(), call.operation.number, chunks);
    let mut rest = Box::pin(pull(chunks, handle, operation.to_owned(), in_flight));
    match rest.next().await {
        None => Ok(Body::Empty),
        Some(Err(BrokenStream::Plugin)) => Err(ErrorResponse::internal()),
        Some(Err(BrokenStream::Stopped)) => Err(ErrorResponse::not_serving(call.plugin)),
        Some(Err(BrokenStream::Source)) => Err(ErrorResponse::broken_source()),
        Some(Ok(first)) => {
            let first = (!first.is_empty()).then_some(Ok(first));
            let frames = stream::iter(first).chain(rest).map(|chunk| chunk.map(Frame::data));
            Ok(Body::boxed(StreamBody::new(frames)))
        }
    }
}

fn pull(
    chunks: PluginValue<BodyStreamBox, Arc<PollGate>>,
    handle: Arc<PluginHandle>,
    operation: String,
    in_flight: InFlightGuard,
) -> impl Stream<Item = Result<Bytes, BrokenStream>> + Send {
    let state = Some((chunks, in_flight));
    stream::unfold(state, move |state| {
        let (handle, operation) = (handle.clone(), operation.clone());
        async move {
            let (mut chunks, in_flight) = state?;
            let next = poll_fn(|context| chunks.poll_with(context, poll_chunk));
            let chunk = tokio::select! {
                biased;
                () = handle.stop.cancelled() => return Some((Err(BrokenStream::Stopped), None)),
                chunk = next => chunk,
            };
            let Ok(chunk) = chunk else { return Some((Err(BrokenStream::Stopped), None)) };
            let chunk =
                chunk?.and_then(|bytes| match excess("a chunk of the stream", bytes.len(), STREAM_CHUNK_BYTES_MAX) {
                    None => RResult::ROk(bytes),
                    Some(reason) => RResult::RErr(error_fault(reason)),
                });
            match chunk {
                RResult::ROk(bytes) => Some((Ok(Bytes::from_owner(bytes)), Some((chunks, in_flight)))),
                RResult::RErr(fault) => Some((Err(broken_stream(&handle, &operation, &fault)), None)),
            }
        }
    })
}

fn broken_stream(handle: &PluginHandle, operation: &str, fault: &Fault) -> BrokenStream {
    if fault.kind == abi::FaultKind::Source {
        let reason = fault.message.as_str();
        tracing::info!(plugin = &*handle.name, operation, reason, "the source of a stream broke off");
        return BrokenStream::Source;
    }
    handle.fault(operation, fault);
    BrokenStream::Plugin
}

fn poll_chunk(chunks: &mut Option<BodyStreamBox>, context: &mut Context<'_>) -> Poll<Option<RResult<FfiBytes, Fault>>> {
    let Some(chunks) = chunks else { return Poll::Ready(None) };
    match context.with_ffi_context(|context| chunks.poll_next(context)) {
        FfiPoll::Pending => Poll::Pending,
        FfiPoll::Ready(chunk) => Poll::Ready(chunk.into_option()),
        FfiPoll::Panicked => Poll::Ready(Some(RResult::RErr(Fault {
            kind: abi::FaultKind::Panic,
            message: "the stream panicked".into(),
            location: Default::default(),
        }))),
    }
}

async fn topic_stream(
    streams: &Streams,
    call: &Call<'_>,
    subscription: &[u8],
) -> Result<Response<Body>, ErrorResponse> {
    let subscription: Subscription =
        serde_json::from_slice(subscription).map_err(|error| broken(call, &error.to_string()))?;
    let topic = streams.topics.get(&subscription.topic).ok_or_else(|| broken(call, "no such topic"))?;
    let Some(slot) = streams.limits.acquire(&call.route.spec.operation, call.ip) else {
        return stream_capacity(&subscription);
    };
    let frames = topic.stream(&subscription, slot, call.sink.clone()).await.map_err(|error| {
        tracing::warn!(topic = subscription.topic, request_id = request_id().as_deref(), %error, "a stream cannot be opened");
        ErrorResponse::unavailable(&error.to_string())
    })?;
    let bypass_bytes = frames.bypass_bytes();
    let frames = frames.map(|bytes| Ok::<_, std::convert::Infallible>(Frame::data(bytes)));
    let mut response = sse(Body::boxed(StreamBody::new(frames)));
    response.extensions_mut().insert(bypass_bytes);
    Ok(response)
}

/// An EventSource that gets 503 on a reconnect never tries again, so it gets 200 with a longer `retry` instead.
fn stream_capacity(subscription: &Subscription) -> Result<Response<Body>, ErrorResponse> {
    if subscription.is_resumed {
        return Ok(sse(Body::Full(Bytes::from_static(b"retry: 30000\n\n"))));
    }
    let hint = "close a stream you no longer read, or poll GET /api/activity";
    Err(ErrorResponse::new(503, "sse_capacity", "too many open streams", hint).header(header::RETRY_AFTER, "30"))
}

fn sse(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
