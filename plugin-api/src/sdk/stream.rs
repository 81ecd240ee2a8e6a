//! Streaming responses: server-sent events of a topic, and bodies that are produced chunk by chunk.

use super::{HostHandle, IntoResponse, PluginContext, RouteDescription, fence, job, render_json, response, row};
use crate::{
    abi::{self, BodyStream, Fault, FaultKind, FfiBytes, Frame, HostError, HostErrorCode, Rows},
    manifest::{ActivityRecord, Answer, Subscription, TopicRow},
};
use abi_stable::std_types::{ROption, RResult, RString, RVec, Tuple2};
use async_ffi::{FfiContext, FfiFuture, FfiPoll};
use futures_core::Stream;
use serde::Serialize;
use serde_json::value::RawValue;
use std::{
    borrow::Cow,
    pin::Pin,
    sync::Arc,
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

impl Frame {
    /// A frame without labels; `data` becomes one line of JSON.
    pub fn new(id: i64, ts: i64, event: impl Into<RString>, data: &impl Serialize) -> Result<Self, HostError> {
        let data = render_json(data)?.into();
        Ok(Self { id, ts, event: event.into(), data, labels: RVec::new() })
    }

    /// Adds a label, which subscriptions can test: see [`Subscription::tests`].
    pub fn label(mut self, name: impl Into<RString>, text: impl Into<RString>) -> Self {
        self.labels.push(Tuple2(name.into(), text.into()));
        self
    }
}

pub(crate) type RenderFn<P> =
    Box<dyn Fn(&PluginContext<P>, Rows) -> FfiFuture<RResult<RVec<Frame>, Fault>> + Send + Sync>;

/// Decodes the rows of the activity log, and calls `render` inside of the fence.
pub(crate) fn render_fn<P, F, Fut>(render: F) -> RenderFn<P>
where
    P: Send + Sync + 'static,
    F: Fn(PluginContext<P>, Vec<TopicRow>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Vec<Frame>, HostError>> + Send + 'static,
{
    let render = Arc::new(render);
    Box::new(move |cx, rows| {
        let (render, cx_of_call) = (render.clone(), cx.clone());
        job::contained(cx, "topic", move || async move {
            let records: Vec<ActivityRecord<Box<RawValue>>> = row::decode(&rows)?;
            let rows = records.into_iter().map(TopicRow::from).collect();
            render(cx_of_call, rows).await.map(RVec::from)
        })
    })
}

/// A body that is produced chunk by chunk: polled only when the client can take more, dropped when it disconnects. An error of the
/// stream ends the body with an error for the client, and counts as the plugin's fault unless it is of the code
/// [`HostErrorCode::Fetch`].
pub struct StreamBody<S> {
    stream: S,
    host: HostHandle,
    status: u16,
    content_type: Cow<'static, str>,
    has_head_at_once: bool,
}

impl<S: Stream<Item = Result<FfiBytes, HostError>> + Send + 'static> StreamBody<S> {
    /// With status 200. The head is sent together with the first chunk, so that a stream which fails or hangs before that is an
    /// error response.
    pub fn new(host: &HostHandle, content_type: impl Into<Cow<'static, str>>, stream: S) -> Self {
        let (host, content_type) = (host.clone(), content_type.into());
        Self { stream, host, status: 200, content_type, has_head_at_once: false }
    }

    pub fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// Sends the head before there is a chunk: for streams whose first chunk may take longer than a request may.
    pub fn head_at_once(self) -> Self {
        Self { has_head_at_once: true, ..self }
    }
}

impl<S: Stream<Item = Result<FfiBytes, HostError>> + Send + 'static> IntoResponse for StreamBody<S> {
    fn into_response(self) -> abi::Response {
        let mut response = response::full(self.status, self.content_type, FfiBytes::default());
        let host = self.host;
        let stream: Pin<Box<S>> = Box::pin(self.stream);
        let inner = fence::ContainedDrop::new(stream, move |fault| host.report("stream drop", fault));
        let object = ContainedStream { inner, owes_head: self.has_head_at_once, ended: false };
        response.body = abi::Body::Stream(abi::BodyStream_TO::from_value(object, abi_stable::erased_types::TD_Opaque));
        response
    }
}

/// What broke off outside is no failure of the plugin.
fn stream_fault(error: HostError) -> Fault {
    let is_from_outside = error.is(HostErrorCode::Fetch);
    let fault = fence::error_fault(error);
    if is_from_outside { Fault { kind: FaultKind::Source, ..fault } } else { fault }
}

struct ContainedStream<S, R: Fn(Fault)> {
    inner: fence::ContainedDrop<Pin<Box<S>>, R>,
    /// An empty first chunk sends the head.
    owes_head: bool,
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
        if std::mem::take(&mut self.owes_head) {
            return Poll::Ready(Some(Ok(FfiBytes::default())));
        }
        let Some(stream) = self.inner.get_mut() else { return Poll::Ready(None) };
        match fence::contain(|| stream.as_mut().poll_next(context)) {
            Ok(poll) => poll.map(|chunk| chunk.map(|chunk| chunk.map_err(stream_fault))),
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
