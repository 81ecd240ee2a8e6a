//! The log of the process: lines for people on a terminal, JSON for programs.

use super::{json_lines::JsonLines, log_writer::LogWriter};
use gateway_config::{LogConfig, LogFormat};
use std::{io::IsTerminal as _, sync::OnceLock};
use tracing_subscriber::{EnvFilter, Registry, fmt, layer::SubscriberExt as _, reload, util::SubscriberInitExt as _};

/// Set by [`start_logging`], for [`set_log_level`].
static LOG_FILTER: OnceLock<reload::Handle<EnvFilter, Registry>> = OnceLock::new();
/// Set by [`start_logging`], for [`flush_log`].
static LOG_WRITER: OnceLock<LogWriter> = OnceLock::new();

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogLevelError {
    #[error("{0}")]
    Invalid(String),
    #[error("the log of this process is not the gateway's")]
    ForeignSubscriber,
}

/// Call it once per process.
pub fn start_logging(config: &LogConfig) {
    // The filter was checked with the rest of the configuration.
    let filter = config.filter().unwrap_or_default();
    let wants_json = match config.format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !std::io::stderr().is_terminal(),
    };
    let (filter, handle) = reload::Layer::new(filter);
    let writer = LOG_WRITER.get_or_init(|| LogWriter::new(std::io::stderr())).clone();
    let registry = tracing_subscriber::registry().with(filter);
    let started = if wants_json {
        registry.with(fmt::layer().event_format(JsonLines).with_writer(writer)).try_init()
    } else {
        let layer = fmt::layer().with_writer(writer);
        // By itself it is coloured unless `NO_COLOR` is set.
        let layer = if std::io::stderr().is_terminal() { layer } else { layer.with_ansi(false) };
        registry.with(layer).try_init()
    };
    match started {
        // Cannot fail: the subscriber is set once, too.
        Ok(()) => drop(LOG_FILTER.set(handle)),
        Err(error) => tracing::debug!(%error, "logging was started before"),
    }
}

/// Writes the lines that wait for others: the last thing that a process does.
pub fn flush_log() {
    if let Some(writer) = LOG_WRITER.get() {
        writer.flush();
    }
}

/// Replaces `log.level` until the process ends.
pub fn set_log_level(level: &str) -> Result<(), LogLevelError> {
    let config = LogConfig { level: level.to_owned(), ..LogConfig::default() };
    let filter = config.filter().map_err(LogLevelError::Invalid)?;
    LOG_FILTER.get().and_then(|handle| handle.reload(filter).ok()).ok_or(LogLevelError::ForeignSubscriber)
}

/// What is logged now; empty where the log of this process is not the gateway's.
pub fn log_level() -> String {
    let filter = LOG_FILTER.get().and_then(|handle| handle.with_current(ToString::to_string).ok());
    filter.unwrap_or_default()
}
