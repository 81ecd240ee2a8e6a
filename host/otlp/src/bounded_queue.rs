//! Counts what becomes of spans: the queue of the SDK drops silently. Rule: a span that ends never waits.

use opentelemetry::Context;
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{Span, SpanData, SpanExporter, SpanProcessor},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

/// Spans that wait: a few MiB at most.
pub const SPANS_MAX: usize = 4096;

/// How many spans wait in the queue.
#[derive(Debug, Default)]
pub struct QueueDepth(AtomicUsize);

impl QueueDepth {
    /// Takes a place, unless there is none.
    fn take(&self) -> bool {
        let taken = self.0.fetch_update(Relaxed, Relaxed, |depth| (depth < SPANS_MAX).then_some(depth + 1));
        taken.is_ok()
    }

    fn give_back(&self, places: usize) {
        self.0.fetch_sub(places, Relaxed);
    }
}

fn count(outcome: &'static str, spans: usize) {
    metrics::counter!("gateway_spans_total", "outcome" => outcome).increment(spans as u64);
}

/// In front of the queue.
#[derive(Debug)]
pub struct BoundedProcessor<P> {
    queue: P,
    depth: Arc<QueueDepth>,
}

impl<P> BoundedProcessor<P> {
    pub fn new(queue: P, depth: Arc<QueueDepth>) -> Self {
        Self { queue, depth }
    }
}

impl<P: SpanProcessor> SpanProcessor for BoundedProcessor<P> {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.queue.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if self.depth.take() {
            self.queue.on_end(span);
        } else {
            count("dropped", 1);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.queue.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.queue.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.queue.set_resource(resource);
    }
}

/// Behind the queue.
#[derive(Debug)]
pub struct CountingExporter<E> {
    exporter: E,
    depth: Arc<QueueDepth>,
    has_failed: AtomicBool,
}

impl<E> CountingExporter<E> {
    pub fn new(exporter: E, depth: Arc<QueueDepth>) -> Self {
        Self { exporter, depth, has_failed: AtomicBool::new(false) }
    }
}

impl<E: SpanExporter> SpanExporter for CountingExporter<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        self.depth.give_back(spans);
        let result = self.exporter.export(batch).await;
        count(if result.is_ok() { "exported" } else { "failed" }, spans);
        let had_failed = self.has_failed.swap(result.is_err(), Relaxed);
        match &result {
            // Once, until it works again.
            Err(error) if !had_failed => tracing::warn!(%error, "the collector does not take spans"),
            Ok(()) if had_failed => tracing::info!("the collector takes spans again"),
            _ => {}
        }
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_has_as_many_places_as_it_says() {
        let depth = QueueDepth::default();
        assert!((0..SPANS_MAX).all(|_| depth.take()));
        assert!(!depth.take());
        depth.give_back(2);
        assert!(depth.take() && depth.take() && !depth.take());
    }
}
