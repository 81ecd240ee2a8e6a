//! `[log]`: what is logged and how. Rule: a misspelt level must prevent the start; the filter's own grammar would accept it as
//! the name of a target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;

use super::validator::Validator;

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Logging.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// A level (off, error, warn, info, debug, trace), then exceptions by target: `info,gateway=debug,plugin=warn`.
    #[schemars(example = "info,gateway=debug")]
    pub level: String,
    /// Text for people, JSON for programs; auto is text on a terminal and JSON elsewhere.
    pub format: LogFormat,
}

/// How a log line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    Auto,
    Text,
    Json,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { level: "info".to_owned(), format: LogFormat::Auto }
    }
}

impl LogConfig {
    /// The filter that `level` describes, or a message for the operator.
    pub fn filter(&self) -> Result<EnvFilter, String> {
        if self.level.trim().is_empty() {
            return Err("it is empty".to_owned());
        }
        let unknown_level =
            self.level.split(',').map(str::trim).find(|part| !part.contains(['=', '[']) && !is_level(part));
        match unknown_level {
            Some(part) => Err(format!("{part:?} is no level")),
            None => EnvFilter::builder().parse(&self.level).map_err(|error| format!("{:?}: {error}", self.level)),
        }
    }

    pub(super) fn validate(&self, validator: &mut Validator<'_>) {
        if let Err(message) = self.filter() {
            let levels = LEVELS.join(", ");
            validator.refuse("log.level", message, format!("levels are {levels}; exceptions are written target=level"));
        }
    }
}

fn is_level(part: &str) -> bool {
    LEVELS.iter().any(|level| level.eq_ignore_ascii_case(part))
}
