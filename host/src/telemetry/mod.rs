//! Logs and metrics. Logs go to standard error, so that a command's own output stays clean.

use crate::config::{LogConfig, LogFormat};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::io::IsTerminal as _;
use tracing_subscriber::{fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _};

/// Lines for people on a terminal, JSON for programs; once per process.
pub fn start_logging(config: &LogConfig) {
    // The configuration was validated, and with it the filter.
    let filter = config.filter().unwrap_or_default();
    let wants_json = match config.format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !std::io::stderr().is_terminal(),
    };
    let registry = tracing_subscriber::registry().with(filter);
    let started = if wants_json {
        let layer = fmt::layer().json().flatten_event(true).with_current_span(false).with_writer(std::io::stderr);
        registry.with(layer).try_init()
    } else {
        let layer = fmt::layer().with_ansi(std::io::stderr().is_terminal()).with_writer(std::io::stderr);
        registry.with(layer).try_init()
    };
    if let Err(error) = started {
        tracing::debug!(%error, "logging was started before");
    }
}

/// The process's metrics; `None` when somebody else records them already.
pub fn start_metrics() -> Option<PrometheusHandle> {
    PrometheusBuilder::new().install_recorder().ok()
}
