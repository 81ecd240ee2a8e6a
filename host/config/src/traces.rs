//! `[traces]`: spans for a collector of OpenTelemetry. Rule: off unless an endpoint is set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::validator::Validator;

/// Spans of requests and jobs, sent to a collector by OTLP over HTTP.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TracesConfig {
    /// Root of the collector; spans go to `/v1/traces` below it. Default: none are made.
    #[schemars(example = "http://127.0.0.1:4318")]
    pub endpoint: Option<String>,
    /// Of a million requests and runs of jobs, how many are recorded.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub sampled_per_million: u32,
    /// Whether the flag of a client's `traceparent` decides instead: only behind a proxy that sets it, since anyone can.
    pub trust_sampled: bool,
}

impl Default for TracesConfig {
    fn default() -> Self {
        Self { endpoint: None, sampled_per_million: 10_000, trust_sampled: false }
    }
}

impl TracesConfig {
    /// Where spans go.
    pub fn traces_url(&self) -> Option<String> {
        self.endpoint.as_deref().map(|root| format!("{}/v1/traces", root.trim_end_matches('/')))
    }

    pub(super) fn validate(&self, validator: &mut Validator<'_>) {
        if let Some(url) = &self.endpoint {
            validator.check_base_url("traces.endpoint", url);
        }
    }
}
