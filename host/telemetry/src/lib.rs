//! Logs, metrics and request ids. All logs go to standard error, so that a command's own output stays clean.

mod descriptions;
mod exposition;
mod histogram;
mod json_lines;
mod log_writer;
mod logging;
mod process;
mod recorder;
mod registry;
mod request;
mod scrape;
mod usage;

pub use histogram::{HistogramSnapshot, HistogramTimer};
pub use log_writer::ACCESS_TARGET;
pub use logging::{LogLevelError, flush_log, set_log_level, start_logging};
pub use recorder::MetricsRecorder;
pub use request::{request_id, with_request_id};
pub use scrape::render_metrics;
pub use usage::{DatabaseUsage, OperationUsage, Usage};
