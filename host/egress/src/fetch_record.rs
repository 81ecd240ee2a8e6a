//! What became of a fetch, for metrics, the log and the trace of the request.

use super::request::Hop;
use gateway_telemetry::{Span, SpanKind, TRACEPARENT, current_traceparent};
use tokio::time::Instant;

/// Counts a fetch once, when it is over: one that its caller gives up counts as `dropped`.
pub(super) struct FetchRecord {
    owner: String,
    started: Instant,
    outcome: &'static str,
    span: Option<Span>,
}

impl FetchRecord {
    pub(crate) fn begin(owner: &str) -> Self {
        Self { owner: owner.to_owned(), started: Instant::now(), outcome: "dropped", span: None }
    }

    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// Joins what the request is sent for: its receiver gets a `traceparent`. Of the URL only the host is told.
    pub(crate) fn trace(&mut self, hop: &mut Hop) {
        self.span = Span::child("fetch", SpanKind::Client);
        if let Some(span) = &self.span {
            span.set("http.request.method", hop.method.as_str().to_owned());
            span.set("server.address", hop.url.host_str().unwrap_or_default().to_owned());
            span.set("gateway.plugin", self.owner.clone());
        }
        let header = self.span.as_ref().map_or_else(current_traceparent, Span::traceparent);
        if let Some(header) = header {
            hop.headers.insert(TRACEPARENT, header);
        }
    }

    pub(crate) fn set_status(&self, status: u16) {
        if let Some(span) = &self.span {
            span.set("http.response.status_code", i64::from(status));
        }
    }

    /// `ok`, or the code of an error.
    pub(crate) fn set_outcome(&mut self, outcome: &'static str) {
        self.outcome = outcome;
    }
}

impl Drop for FetchRecord {
    fn drop(&mut self) {
        let Self { owner, started, outcome, span } = self;
        let (plugin, outcome) = (std::mem::take(owner), *outcome);
        if let Some(span) = span.take().filter(|_| outcome != "ok") {
            span.fail(outcome);
        }
        tracing::debug!(plugin, outcome, elapsed_ms = started.elapsed().as_millis(), "fetch");
        metrics::counter!("gateway_egress_fetches_total", "plugin" => plugin, "outcome" => outcome).increment(1);
    }
}
