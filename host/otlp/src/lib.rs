//! Exports the spans of `gateway-telemetry` to a collector, by OTLP over HTTP.
//!
//! The rule: no request waits for the collector. Spans wait in a queue with a bound; beyond it, or while the collector is away, they are
//! dropped and counted.

mod bounded_queue;
mod http_client;
mod sampler;

use bounded_queue::{BoundedProcessor, CountingExporter, QueueDepth, SPANS_MAX};
use gateway_config::TracesConfig;
use http_client::CollectorClient;
use opentelemetry::{KeyValue, global::BoxedTracer, trace::TracerProvider as _};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    trace::{BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider},
};
use sampler::Sampler;
use std::{sync::Arc, time::Duration};
use tokio::runtime::Handle;
use uuid::Uuid;

/// For one batch, with what is sent again.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);
/// Spans are sent at the latest after so long.
const DELAY: Duration = Duration::from_secs(2);
const BATCH_SPANS_MAX: usize = 512;
/// For what is left when the gateway stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Debug, thiserror::Error)]
pub enum OtlpError {
    #[error("traces cannot be exported: {0}")]
    Client(String),
    #[error("traces cannot be exported: {0}")]
    Exporter(#[from] opentelemetry_otlp::ExporterBuildError),
}

/// The running export.
pub struct OtlpExport(SdkTracerProvider);

impl OtlpExport {
    /// `None` unless `traces.endpoint` is set. Requests to the collector run on `runtime`.
    pub fn start(config: &TracesConfig, runtime: Handle) -> Result<Option<Self>, OtlpError> {
        let Some(endpoint) = config.traces_url() else { return Ok(None) };
        let client = CollectorClient::new(&endpoint, runtime, EXPORT_TIMEOUT).map_err(OtlpError::Client)?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(endpoint)
            .with_timeout(EXPORT_TIMEOUT)
            .build()?;
        let depth = Arc::new(QueueDepth::default());
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(SPANS_MAX)
            .with_max_export_batch_size(BATCH_SPANS_MAX)
            .with_scheduled_delay(DELAY)
            .build();
        let exporter = CountingExporter::new(exporter, depth.clone());
        let queue = BatchSpanProcessor::builder(exporter).with_batch_config(batches).build();
        let provider = SdkTracerProvider::builder()
            .with_sampler(Sampler::new(config))
            .with_resource(resource())
            .with_span_processor(BoundedProcessor::new(queue, depth))
            .build();
        gateway_telemetry::start_tracing(BoxedTracer::new(Box::new(provider.tracer("gateway"))));
        tracing::info!(per_million = config.sampled_per_million, "spans are exported");
        Ok(Some(Self(provider)))
    }

    /// Sends what is left. It blocks.
    pub fn stop(&self) {
        if let Err(error) = self.0.shutdown_with_timeout(STOP_TIMEOUT) {
            tracing::debug!(%error, "the last spans were not exported");
        }
    }
}

/// Who sends the spans; `OTEL_RESOURCE_ATTRIBUTES` adds to it.
fn resource() -> Resource {
    Resource::builder()
        .with_service_name("gateway")
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .with_attribute(KeyValue::new("service.instance.id", Uuid::now_v7().to_string()))
        .build()
}
