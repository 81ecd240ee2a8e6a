//! Why a fetch failed.
//!
//! `Display` is for the caller: it names the requested host and a reason, never an address that the gateway resolved
//! and never a library's text. A library's error is the `source`, for the log.

use std::{fmt, time::Duration};

use thiserror::Error;

/// A library's error, for the log.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

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
    InvalidHeader { name: String, problem: &'static str },
    #[error("the request body is larger than {bytes_max} bytes")]
    RequestTooLarge { bytes_max: u64 },
    #[error("the answer of {host:?} is too large: {part} of more than {bytes_max} bytes")]
    TooLarge { host: String, part: &'static str, bytes_max: u64 },
    #[error("{waiting_for} within {timeout_ms} ms (host {host:?})")]
    Timeout { host: String, timeout_ms: u64, waiting_for: WaitingFor },
    #[error("no further request is sent to {host:?} now: {limit}")]
    DestinationBusy { host: String, limit: DestinationLimit, retry_after: Duration },
    #[error("no connection to {host:?}")]
    Connect {
        host: String,
        #[source]
        source: BoxError,
    },
    #[error("{host:?} broke off or did not speak HTTP")]
    BrokenResponse {
        host: String,
        #[source]
        source: Option<BoxError>,
    },
    #[error("{host:?} sent a redirect that cannot be read")]
    BadRedirect { host: String },
    #[error("{host:?} sent one redirect more than the {redirects_max} that are followed")]
    RedirectLimit { host: String, redirects_max: u8 },
}

/// What a fetch was waiting for when its deadline passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitingFor {
    /// One of the plugin's slots, all of which other fetches occupied.
    Slot,
    /// The last byte of the body.
    Response,
    /// The head of a response that is read while it arrives.
    Head,
    /// More of its body.
    Chunk,
}

/// A call that a limit of its destination does not allow. Nothing was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LimitExceeded {
    pub limit: DestinationLimit,
    pub retry_after: Duration,
}

/// Which limit of a destination, its host name or its address, was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DestinationLimit {
    /// So many calls are in progress.
    Concurrency(usize),
    /// So many began within the last second.
    Rate(usize),
    /// It never answered 2xx, and the last background call is not this long ago.
    Unanswered(Duration),
}

impl fmt::Display for DestinationLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Concurrency(calls) => write!(f, "{calls} are in progress"),
            Self::Rate(calls) => write!(f, "{calls} began within the last second"),
            Self::Unanswered(interval) => {
                let interval_s = interval.as_secs_f32();
                write!(f, "it has not answered with 2xx yet, so it gets one probe or webhook in {interval_s} s")
            }
        }
    }
}

impl fmt::Display for WaitingFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Slot => "no free slot among the plugin's outbound requests",
            Self::Response => "no complete answer",
            Self::Head => "no answer",
            Self::Chunk => "nothing more of the answer",
        })
    }
}

impl EgressError {
    /// Stable; clients and metrics may match on it.
    pub fn code(&self) -> &'static str {
        self.code_and_status().0
    }

    /// The HTTP status for the client whose request caused this fetch.
    pub fn status(&self) -> u16 {
        self.code_and_status().1
    }

    /// When the same request may be allowed, in full seconds; `None` when that is not known.
    pub fn retry_after_s(&self) -> Option<u64> {
        let Self::DestinationBusy { retry_after, .. } = self else { return None };
        Some(retry_after.as_secs() + u64::from(retry_after.subsec_nanos() > 0))
    }

    fn code_and_status(&self) -> (&'static str, u16) {
        match self {
            Self::Settings { .. } => ("settings", 500),
            Self::Certificates(_) => ("certificates", 500),
            Self::BadUrl { .. } => ("bad_url", 400),
            Self::PrivateUrl { .. } => ("private_url", 400),
            Self::UnresolvableUrl { .. } => ("unresolvable_url", 502),
            Self::BadMethod { .. } => ("bad_method", 400),
            Self::InvalidHeader { .. } => ("refused_header", 400),
            Self::RequestTooLarge { .. } => ("request_too_large", 413),
            Self::TooLarge { .. } => ("too_large", 502),
            Self::Timeout { waiting_for: WaitingFor::Slot, .. } => ("egress_busy", 503),
            Self::Timeout { .. } => ("timeout", 504),
            Self::DestinationBusy { .. } => ("destination_busy", 503),
            Self::Connect { .. } => ("connect", 502),
            Self::BrokenResponse { .. } => ("broken_answer", 502),
            Self::BadRedirect { .. } => ("bad_redirect", 502),
            Self::RedirectLimit { .. } => ("redirect_limit", 502),
        }
    }
}
