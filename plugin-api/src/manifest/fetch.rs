//! The `fetch` capability: outbound HTTP through the gateway's one egress function. Bodies travel beside as raw bytes.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FetchQuestion {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// For the whole exchange; the gateway has a default and a maximum.
    pub timeout_ms: Option<u64>,
    pub response_bytes_max: Option<u64>,
    /// Redirects are not followed unless asked for; each target is checked again.
    pub redirects_max: u8,
    /// A longer answer is cut at the limit instead of being an error: for callers to whom the status matters.
    pub cuts_overflow: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FetchAnswer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// Where the answer came from, after redirects.
    pub url: String,
}

/// The `check_url` capability: may this URL be stored, as far as its text tells?
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UrlQuestion {
    pub url: String,
}

/// Nothing when it may.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UrlAnswer {
    pub problem: Option<UrlProblem>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UrlProblem {
    /// `private_url` when its host is not public, `bad_url` when it is no URL that could be called.
    pub code: String,
    /// For people.
    pub message: String,
}
