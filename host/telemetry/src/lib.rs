//! Logs, metrics, spans and request ids. All logs go to standard error, so that a command's own output stays clean.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod descriptions;
mod exposition;
mod histogram;
mod json_lines;
mod log_context;
mod log_writer;
mod logging;
mod process;
mod recorder;
mod registry;
mod scrape;
mod span;
mod trace_parent;
mod traffic;
mod usage;

pub use histogram::{HistogramSnapshot, HistogramTimer};
pub use log_context::{LogContext, current_log_context, request_id, run_in_log_context, with_log_context};
pub use log_writer::ACCESS_TARGET;
pub use logging::{LogLevelError, flush_log, log_level, set_log_level, start_logging};
pub use opentelemetry::trace::SpanKind;
pub use recorder::MetricsRecorder;
pub use scrape::render_metrics;
pub use span::{InSpan, Span, SpanScope, SpanStart, current_traceparent, is_tracing, start_tracing};
pub use trace_parent::TRACEPARENT;
pub use traffic::{TRAFFIC_INTERVAL, TRAFFIC_INTERVALS_MAX, TrafficInterval, TrafficTotals};
pub use usage::{DatabaseUsage, OperationUsage, Usage};
