//! Logs and metrics. Logs go to standard error, so that a command's own output stays clean.

mod exposition;
mod histogram;
mod request;
mod usage;

pub use exposition::render;
pub use histogram::{Durations, Timer};
pub use request::{of_request, request_id};
pub use usage::{DatabaseUsage, OperationUsage, Usage};

use gateway_config::{LogConfig, LogFormat};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::{io::IsTerminal as _, sync::OnceLock, time::Duration};
use tracing_subscriber::{EnvFilter, Registry, fmt, layer::SubscriberExt as _, reload, util::SubscriberInitExt as _};

/// The filter of this process's log, for [`set_log_level`].
static FILTER: OnceLock<reload::Handle<EnvFilter, Registry>> = OnceLock::new();

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogLevelError {
    #[error("{0}")]
    Invalid(String),
    #[error("the log of this process is not the gateway's")]
    NotOurs,
}

/// Lines for people on a terminal, JSON for programs; once per process.
pub fn start_logging(config: &LogConfig) {
    // The configuration was validated, and with it the filter.
    let filter = config.filter().unwrap_or_default();
    let wants_json = match config.format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !std::io::stderr().is_terminal(),
    };
    let (filter, handle) = reload::Layer::new(filter);
    let registry = tracing_subscriber::registry().with(filter);
    let started = if wants_json {
        let layer = fmt::layer().json().flatten_event(true).with_current_span(false).with_writer(std::io::stderr);
        registry.with(layer).try_init()
    } else {
        let layer = fmt::layer().with_ansi(std::io::stderr().is_terminal()).with_writer(std::io::stderr);
        registry.with(layer).try_init()
    };
    match started {
        // Set once, like the subscriber.
        Ok(()) => drop(FILTER.set(handle)),
        Err(error) => tracing::debug!(%error, "logging was started before"),
    }
}

/// Another `log.level`, until the next start.
pub fn set_log_level(level: &str) -> Result<(), LogLevelError> {
    let config = LogConfig { level: level.to_owned(), ..LogConfig::default() };
    let filter = config.filter().map_err(LogLevelError::Invalid)?;
    FILTER.get().and_then(|handle| handle.reload(filter).ok()).ok_or(LogLevelError::NotOurs)
}

/// Seconds, for whatever is measured through the recorder; what requests do is counted in [`Usage`].
const BUCKETS_S: [f64; 12] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0, 300.0, 3600.0];
/// The recorder keeps each measured value until it is asked for them, or told to put them into the buckets.
const UPKEEP: Duration = Duration::from_secs(10);

/// The process's metrics; `None` when somebody else records them already.
pub fn start_metrics() -> Option<PrometheusHandle> {
    let handle = PrometheusBuilder::new().set_buckets(&BUCKETS_S).ok()?.install_recorder().ok()?;
    let kept = handle.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(UPKEEP).await;
            kept.run_upkeep();
        }
    });
    Some(handle)
}
