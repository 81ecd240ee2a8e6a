//! Streaming responses: server-sent events of a topic, and bodies that are produced chunk by chunk.

use super::{HostHandle, IntoResponse, RouteDescription, fence, response};
use crate::{
    abi::{self, BodyStream, Fault, FfiBytes, HostError},
    manifest::{Answer, Subscription},
};
use abi_stable::std_types::{ROption, RResult};
use async_ffi::{FfiContext, FfiPoll};
use futures_core::Stream;
use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// Server-sent events of a topic. The gateway replays and filters them, sends keep-alives and shares frames among clients.
pub struct Topic(pub Subscription);

impl IntoResponse for Topic {
    fn into_response(self) -> abi::Response {
        let subscription = serde_json::to_vec(&self.0).unwrap_or_default();
        let mut response = response::full(200, "text/event-stream; charset=utf-8", FfiBytes::default());
        response.body = abi::Body::Topic(subscription.into());
        response
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        describe.spec.answers.push(Answer {
            status: 200,
            description: "Server-sent events: `event` is the type, `id` the event's id, `data` one line of JSON".into(),
            content_type: "text/event-stream".into(),
            schema: Some(serde_json::json!({ "type": "string" })),
            codes: Vec::new(),
        });
    }
}

/// A body that is produced chunk by chunk: polled only when the client can take more, dropped when it disconnects.
pub struct StreamBody<S> {
    stream: S,
    host: HostHandle,
    content_type: &'static str,
}

impl<S: Stream<Item = Result<FfiBytes, HostError>> + Send + 'static> StreamBody<S> {
    pub fn new(host: &HostHandle, content_type: &'static str, stream: S) -> Self {
        Self { stream, host: host.clone(), content_type }
    }
}

impl<S: Stream<Item = Result<FfiBytes, HostError>> + Send + 'static> IntoResponse for StreamBody<S> {
    fn into_response(self) -> abi::Response {
        let mut response = response::full(200, self.content_type, FfiBytes::default());
        let host = self.host;
        let stream: Pin<Box<S>> = Box::pin(self.stream);
        let inner = fence::ContainedDrop::new(stream, move |fault| host.report("stream drop", fault));
        let object = ContainedStream { inner, ended: false };
        response.body = abi::Body::Stream(abi::BodyStream_TO::from_value(object, abi_stable::erased_types::TD_Opaque));
        response
    }
}

struct ContainedStream<S, R: Fn(Fault)> {
    inner: fence::ContainedDrop<Pin<Box<S>>, R>,
    ended: bool,
}

impl<S, R> ContainedStream<S, R>
where
    S: Stream<Item = Result<FfiBytes, HostError>> + Send + 'static,
    R: Fn(Fault) + Send + 'static,
{
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<FfiBytes, Fault>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let Some(stream) = self.inner.get_mut() else { return Poll::Ready(None) };
        match fence::contain(|| stream.as_mut().poll_next(context)) {
            Ok(poll) => poll.map(|chunk| chunk.map(|chunk| chunk.map_err(fence::error_fault))),
            Err(fault) => Poll::Ready(Some(Err(fault))),
        }
    }
}

impl<S, R> BodyStream for ContainedStream<S, R>
where
    S: Stream<Item = Result<FfiBytes, HostError>> + Send + 'static,
    R: Fn(Fault) + Send + 'static,
{
    fn poll_next(&mut self, context: &mut FfiContext<'_>) -> FfiPoll<ROption<RResult<FfiBytes, Fault>>> {
        match context.with_context(|context| self.poll(context)) {
            Poll::Pending => FfiPoll::Pending,
            Poll::Ready(chunk) => {
                self.ended = !matches!(chunk, Some(Ok(_)));
                FfiPoll::Ready(chunk.map(RResult::from).into())
            }
        }
    }
}
