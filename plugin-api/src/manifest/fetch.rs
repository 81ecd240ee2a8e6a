//! The `fetch` capability and [`crate::abi::Host::fetch_streamed`]: outbound HTTP through the gateway's egress. Bodies are passed separately, as raw bytes.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FetchCall {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// For the whole exchange, or up to the head of a streamed response; the gateway has a default and a maximum.
    pub timeout_ms: Option<u64>,
    /// Of a streamed response: the longest wait for more of its body.
    pub idle_timeout_ms: Option<u64>,
    /// Of a streamed response: up to its last byte; without it, there is no such limit.
    pub total_timeout_ms: Option<u64>,
    pub response_bytes_max: Option<u64>,
    /// Maximum number of redirects to follow; each target is checked again.
    pub redirects_max: u8,
    /// Truncates a longer body at the limit instead of failing, for callers that need the status only.
    pub cuts_overflow: bool,
    /// A probe or webhook: a destination that never answered 2xx gets few of them.
    pub background: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FetchHead {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// The URL after redirects.
    pub url: String,
}

/// The `check_url` capability: checks by its text whether a URL may be stored.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UrlCheckCall {
    pub url: String,
}

/// No problem when it may be stored.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UrlCheckResult {
    pub problem: Option<UrlProblem>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UrlProblem {
    /// `private_url` when its host is not public, `bad_url` when it cannot be fetched.
    pub code: String,
    /// For people.
    pub message: String,
}
