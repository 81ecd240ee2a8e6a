//! Why a fetch did not happen or did not end.
//!
//! `Display` is for the caller: it names the host it asked for and a reason, never an address that we looked up and
//! never a library's text. What a library said is the `source`, for the log.

use thiserror::Error;

#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EgressError {
    #[error("outbound HTTP is not set up: {}", problems.join("; "))]
    Settings { problems: Vec<String> },
    #[error("no usable root certificates on this machine: install ca-certificates or set SSL_CERT_FILE")]
    Certificates(#[source] rustls::Error),
    #[error("the URL {problem}")]
    BadUrl { problem: &'static str },
    #[error("the URL's host {host:?} is not public: {reason}")]
    PrivateUrl { host: String, reason: &'static str },
    #[error("the host {host:?} does not resolve")]
    UnresolvableUrl { host: String },
    #[error("the method {method:?} cannot be sent")]
    BadMethod { method: String },
    #[error("the request header {name:?} {problem}")]
    RefusedHeader { name: String, problem: &'static str },
    #[error("the request body is larger than {bytes_max} bytes")]
    RequestTooLarge { bytes_max: u64 },
    #[error("the answer of {host:?} is too large: {part} of more than {bytes_max} bytes")]
    TooLarge { host: String, part: &'static str, bytes_max: u64 },
    #[error("{waiting} within {timeout_ms} ms (host {host:?})")]
    Timeout { host: String, timeout_ms: u64, waiting: Waiting },
    #[error("no connection to {host:?}")]
    Connect {
        host: String,
        #[source]
        source: reqwest::Error,
    },
    #[error("{host:?} broke off or did not speak HTTP")]
    BrokenAnswer {
        host: String,
        #[source]
        source: Option<reqwest::Error>,
    },
    #[error("{host:?} sent a redirect that cannot be read")]
    BadRedirect { host: String },
    #[error("{host:?} sent one redirect more than the {redirects_max} that are followed")]
    RedirectLimit { host: String, redirects_max: u8 },
}

/// What a fetch was waiting for when its time was up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// The plugin's other fetches took up its whole budget.
    Slot,
    /// Look-up, connection, head or body.
    Answer,
}

impl std::fmt::Display for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Slot => "no free slot among the plugin's outbound requests",
            Self::Answer => "no complete answer",
        })
    }
}

impl EgressError {
    /// Stable; clients and metrics may match on it.
    pub fn code(&self) -> &'static str {
        self.code_and_status().0
    }

    /// The HTTP status for a caller whose request led to this fetch.
    pub fn status(&self) -> u16 {
        self.code_and_status().1
    }

    fn code_and_status(&self) -> (&'static str, u16) {
        match self {
            Self::Settings { .. } => ("settings", 500),
            Self::Certificates(_) => ("certificates", 500),
            Self::BadUrl { .. } => ("bad_url", 400),
            Self::PrivateUrl { .. } => ("private_url", 400),
            Self::UnresolvableUrl { .. } => ("unresolvable_url", 502),
            Self::BadMethod { .. } => ("bad_method", 400),
            Self::RefusedHeader { .. } => ("refused_header", 400),
            Self::RequestTooLarge { .. } => ("request_too_large", 413),
            Self::TooLarge { .. } => ("too_large", 502),
            Self::Timeout { waiting: Waiting::Slot, .. } => ("egress_busy", 503),
            Self::Timeout { waiting: Waiting::Answer, .. } => ("timeout", 504),
            Self::Connect { .. } => ("connect", 502),
            Self::BrokenAnswer { .. } => ("broken_answer", 502),
            Self::BadRedirect { .. } => ("bad_redirect", 502),
            Self::RedirectLimit { .. } => ("redirect_limit", 502),
        }
    }
}
