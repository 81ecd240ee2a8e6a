//! Spans of OpenTelemetry: what a request or a run of a job did, step by step, for the exporter in `gateway-otlp`.
//!
//! The rule: without an exporter a span is `None` after one look at a static, and nothing is allocated. A span names routes, plugins,
//! operations and hosts; never a path, a query, a header, a body, a value of a statement or an error's text.

use crate::trace_parent;
use http::{HeaderMap, HeaderValue, Method};
use opentelemetry::{
    Context, KeyValue, Value,
    global::BoxedTracer,
    trace::{SpanKind, Status, TraceContextExt as _, Tracer as _},
};
use pin_project_lite::pin_project;
use std::{
    borrow::Cow,
    pin::Pin,
    sync::OnceLock,
    task::{self, Poll},
    time::SystemTime,
};

/// Set by [`start_tracing`].
static TRACER: OnceLock<BoxedTracer> = OnceLock::new();

/// From then on spans are made. Call it once per process.
pub fn start_tracing(tracer: BoxedTracer) {
    if TRACER.set(tracer).is_err() {
        tracing::debug!("tracing was started before");
    }
}

/// Whether spans are made at all.
pub fn is_tracing() -> bool {
    TRACER.get().is_some()
}

/// A step that ends when this is dropped.
#[derive(Debug)]
pub struct Span(Context);

/// A span, for what happens in it; it does not keep the span from ending.
#[derive(Clone, Debug)]
pub struct SpanScope(Context);

impl Span {
    /// Of a request to the gateway, in the trace that the client names.
    pub fn of_request(method: &Method, headers: &HeaderMap) -> Option<Self> {
        let tracer = TRACER.get()?;
        let parent = trace_parent::read(headers);
        let parent = parent.map_or_else(Context::new, |parent| Context::new().with_remote_span_context(parent));
        let span = Self::start(tracer, "request", SpanKind::Server, &parent);
        // Any other word is the client's.
        let method = if is_known(method) { method.as_str().to_owned() } else { "_OTHER".to_owned() };
        span.set("http.request.method", method);
        Some(span)
    }

    /// Of a run of a job, in a trace of its own.
    pub fn of_job(plugin: &str, job: &str) -> Option<Self> {
        Self::of_run("job", plugin, job)
    }

    /// Of a task of a queue, in a trace of its own.
    pub fn of_task(plugin: &str, queue: &str) -> Option<Self> {
        Self::of_run("task", plugin, queue)
    }

    fn of_run(kind: &str, plugin: &str, name: &str) -> Option<Self> {
        let tracer = TRACER.get()?;
        let span = Self::start(tracer, format!("{kind} {plugin}.{name}"), SpanKind::Internal, &Context::new());
        span.set("gateway.plugin", plugin.to_owned());
        span.set("gateway.run", name.to_owned());
        Some(span)
    }

    /// A step of what this task does, if that is recorded.
    pub fn child(name: &'static str, kind: SpanKind) -> Option<Self> {
        SpanStart::now().map(|start| start.child(name, kind))
    }

    fn start(tracer: &BoxedTracer, name: impl Into<Cow<'static, str>>, kind: SpanKind, parent: &Context) -> Self {
        let span = tracer.span_builder(name).with_kind(kind).start_with_context(tracer, parent);
        Self(parent.with_span(span))
    }

    pub fn set(&self, key: &'static str, value: impl Into<Value>) {
        SpanScope::set_in(&self.0, key, value);
    }

    /// The step did not do what it should; `kind` is a code, not a text that could hold a value.
    pub fn fail(&self, kind: &'static str) {
        self.set("error.type", kind);
        self.0.span().set_status(Status::error(""));
    }

    pub fn scope(&self) -> SpanScope {
        SpanScope(self.0.clone())
    }

    /// The header that makes the receiver's spans children of this one.
    pub fn traceparent(&self) -> Option<HeaderValue> {
        trace_parent::write(self.0.span().span_context())
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        self.0.span().end();
    }
}

impl SpanScope {
    /// Runs `future` in this span: what happens in it becomes a child.
    pub fn run<F: Future>(scope: Option<Self>, future: F) -> InSpan<F> {
        InSpan { context: scope.map(|scope| scope.0), future }
    }

    /// Names the route: the pattern of the path, not the path.
    pub fn set_route(&self, method: &str, pattern: &str, plugin: &str, operation: &str) {
        if self.0.span().is_recording() {
            self.0.span().update_name(format!("{method} {pattern}"));
            Self::set_in(&self.0, "http.route", pattern.to_owned());
            Self::set_in(&self.0, "gateway.plugin", plugin.to_owned());
            Self::set_in(&self.0, "gateway.operation", operation.to_owned());
        }
    }

    fn set_in(context: &Context, key: &'static str, value: impl Into<Value>) {
        context.span().set_attribute(KeyValue::new(key, value));
    }
}

/// The header for a request of the gateway that has no span of its own, because its trace is not recorded here.
pub fn current_traceparent() -> Option<HeaderValue> {
    TRACER.get()?;
    Context::map_current(|context| trace_parent::write(context.span().span_context()))
}

/// The beginning of a step of which it is not known yet whether it is one.
#[derive(Clone, Copy, Debug)]
pub struct SpanStart {
    tracer: &'static BoxedTracer,
    at: SystemTime,
}

impl SpanStart {
    /// `None` where nothing is recorded.
    pub fn now() -> Option<Self> {
        let tracer = TRACER.get()?;
        let is_recorded = Context::map_current(|context| context.span().span_context().is_sampled());
        is_recorded.then(|| Self { tracer, at: opentelemetry::time::now() })
    }

    /// A step of what this task does, since then.
    pub fn child(self, name: &'static str, kind: SpanKind) -> Span {
        let parent = Context::current();
        let span = self.tracer.span_builder(name).with_kind(kind).with_start_time(self.at);
        Span(parent.with_span(span.start_with_context(self.tracer, &parent)))
    }
}

fn is_known(method: &Method) -> bool {
    let known = [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::HEAD, Method::OPTIONS, Method::PATCH];
    known.contains(method)
}

pin_project! {
    /// A future that runs in a span, if there is one.
    pub struct InSpan<F> {
        context: Option<Context>,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for InSpan<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, task: &mut task::Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _attached = this.context.as_ref().map(|context| context.clone().attach());
        this.future.poll(task)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::TRACEPARENT;

    /// Each test is a process of its own, in which nobody has started tracing.
    #[tokio::test]
    async fn without_an_exporter_there_are_no_spans_and_no_headers() {
        let parent = HeaderValue::from_static("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
        let headers = HeaderMap::from_iter([(TRACEPARENT, parent)]);
        assert!(!is_tracing());
        assert!(Span::of_request(&Method::GET, &headers).is_none());
        assert!(Span::of_job("forum", "tidy").is_none() && Span::of_task("webhooks", "deliveries").is_none());
        let within = SpanScope::run(None, async {
            (SpanStart::now().is_none(), Span::child("step", SpanKind::Internal).is_none(), current_traceparent())
        });
        assert_eq!(within.await, (true, true, None));
    }
}
