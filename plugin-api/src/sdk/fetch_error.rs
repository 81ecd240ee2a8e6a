//! Why a fetch failed.

use super::Problem;
use crate::abi::{HostError, HostErrorCode};
use std::time::Duration;

const OTHER_SIDE: &str = "another server failed, which this request needs: repeat it later";

/// Why a [`Fetch`](crate::Fetch) has no response, or not the one that was needed. The texts are for people and name no address that
/// the gateway resolved. `?` makes it a [`HostError`] with the code [`HostErrorCode::Fetch`]. In a handler, `?` answers it: 502, 504 for
/// a timeout, 503 when nothing was sent for want of a place, 400 for a URL or request that can never be sent.
///
/// ```
/// use plugin_api::{Fetch, HostError, HostHandle, handles::FetchError};
///
/// /// Whether to try again later.
/// async fn is_worth_another_try(host: &HostHandle, url: &str) -> Result<bool, HostError> {
///     match Fetch::get(url).truncate_at(0).send(host).await.and_then(|response| response.error_for_status()) {
///         Ok(_) | Err(FetchError::Refused(_) | FetchError::Invalid(_)) => Ok(false),
///         Err(FetchError::Status(status)) => Ok(status >= 500),
///         Err(FetchError::Busy(_) | FetchError::DestinationBusy { .. }) => Ok(true),
///         Err(FetchError::Timeout(_) | FetchError::Connect(_)) => Ok(true),
///         Err(error) => Err(error.into()),
///     }
/// }
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The egress does not let it out: the host is no public one.
    #[error("{0}")]
    Refused(String),
    /// The request can never be sent: its URL, method, headers or the size of its body.
    #[error("{0}")]
    Invalid(String),
    /// The plugin's places are taken by other requests: nothing was sent.
    #[error("{0}")]
    Busy(String),
    /// The host has had its requests, of all plugins, for now: nothing was sent.
    #[error("{reason}")]
    DestinationBusy {
        reason: String,
        /// When the same request may be allowed, in full seconds.
        retry_after: Duration,
    },
    /// No complete response within the time limit; the request may have been served.
    #[error("{0}")]
    Timeout(String),
    /// The host does not resolve, or there is no connection to it.
    #[error("{0}")]
    Connect(String),
    /// The response is larger than the limit.
    #[error("{0}")]
    TooLarge(String),
    /// The response broke off, is no HTTP, or redirects too often; or the plugin was stopped while it read one.
    #[error("{0}")]
    Broken(String),
    /// [`FetchResponse::error_for_status`](crate::handles::FetchResponse::error_for_status): the status is not 2xx.
    #[error("the status is {0}")]
    Status(u16),
    /// [`FetchResponse::json`](crate::handles::FetchResponse::json): the body is no JSON of this type.
    #[error("the body is not the expected JSON: {0}")]
    Json(String),
    /// Any other failure of the gateway, for example a missing grant.
    #[error(transparent)]
    Host(HostError),
}

impl FetchError {
    /// For programs, as in the messages of a [`HostErrorCode::Fetch`].
    fn code(&self) -> &'static str {
        match self {
            Self::Refused(_) => "private_url",
            Self::Invalid(_) => "bad_request",
            Self::Busy(_) => "egress_busy",
            Self::DestinationBusy { .. } => "destination_busy",
            Self::Timeout(_) => "timeout",
            Self::Connect(_) => "connect",
            Self::TooLarge(_) => "too_large",
            Self::Broken(_) => "broken_answer",
            Self::Status(_) => "bad_status",
            Self::Json(_) => "bad_json",
            Self::Host(_) => "host",
        }
    }
}

/// The parts of a message: the code, a number of seconds for some codes, and the text.
fn parts(message: &str) -> Option<(&str, Option<u64>, &str)> {
    let (code, text) = message.split_once(": ")?;
    match code.split_once(' ') {
        Some((code, seconds)) => Some((code, seconds.parse().ok(), text)),
        None => Some((code, None, text)),
    }
}

/// What the caller of a route reads about a [`HostErrorCode::Fetch`]; `None` when it is the gateway's failure.
pub(super) fn fetch_problem(error: &HostError) -> Option<Problem> {
    let (code, retry_after_s, text) = parts(&error.message)?;
    let (status, hint) = match code {
        "settings" | "certificates" => return None,
        "private_url" | "bad_url" | "bad_method" | "refused_header" | "request_too_large" | "bad_request" => {
            (400, "correct the address that this request leads to")
        }
        "egress_busy" | "destination_busy" => (503, "repeat the same request in a few seconds"),
        "timeout" => (504, OTHER_SIDE),
        _ => (502, OTHER_SIDE),
    };
    let problem = Problem::new(status, code, text).hint(hint);
    Some(match retry_after_s {
        Some(seconds) => problem.header("retry-after", seconds.to_string()),
        None => problem,
    })
}

/// The message starts with the egress's code, for `destination_busy` a space and the seconds to wait, and a colon.
impl From<HostError> for FetchError {
    fn from(error: HostError) -> Self {
        if !error.is(HostErrorCode::Fetch) {
            return Self::Host(error);
        }
        let Some((code, retry_after_s, text)) = parts(&error.message) else { return Self::Host(error) };
        let text = text.to_owned();
        match code {
            "private_url" => Self::Refused(text),
            "bad_url" | "bad_method" | "refused_header" | "request_too_large" => Self::Invalid(text),
            "egress_busy" => Self::Busy(text),
            "destination_busy" => {
                let retry_after = Duration::from_secs(retry_after_s.unwrap_or(1));
                Self::DestinationBusy { reason: text, retry_after }
            }
            "timeout" => Self::Timeout(text),
            "unresolvable_url" | "connect" => Self::Connect(text),
            "too_large" => Self::TooLarge(text),
            "broken_answer" | "bad_redirect" | "redirect_limit" | "stopped" => Self::Broken(text),
            _ => Self::Host(error),
        }
    }
}

impl From<FetchError> for HostError {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Host(error) => error,
            FetchError::DestinationBusy { reason, retry_after } => {
                let message = format!("destination_busy {}: {reason}", retry_after.as_secs());
                Self::new(HostErrorCode::Fetch, message)
            }
            other => Self::new(HostErrorCode::Fetch, format!("{}: {other}", other.code())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host_error(message: &str) -> HostError {
        HostError::new(HostErrorCode::Fetch, message.to_owned())
    }

    #[test]
    fn a_busy_destination_says_when_to_come_back() {
        let message = "destination_busy 42: no further request is sent to \"a.test\" now: 8 are in progress";
        let error = FetchError::from(host_error(message));
        let FetchError::DestinationBusy { reason, retry_after } = &error else { panic!("{error:?}") };
        assert_eq!(*retry_after, Duration::from_secs(42));
        assert_eq!(reason, "no further request is sent to \"a.test\" now: 8 are in progress");
        // A handler may pass it on with `?`, through either type.
        let passed_on = HostError::from(error);
        assert_eq!(passed_on.message, message);
        let response = fetch_problem(&passed_on).unwrap().into_response();
        let headers: Vec<_> = response.headers.iter().map(|header| (header.0.as_str(), header.1.as_str())).collect();
        assert_eq!((response.status, headers.contains(&("retry-after", "42"))), (503, true), "{headers:?}");
    }

    #[test]
    fn a_busy_plugin_is_told_apart_from_a_busy_destination() {
        let error = FetchError::from(host_error("egress_busy: no free slot"));
        assert!(matches!(&error, FetchError::Busy(text) if text == "no free slot"), "{error:?}");
        let problem = fetch_problem(&HostError::from(error)).unwrap();
        assert_eq!((problem.status, problem.code.as_str()), (503, "egress_busy"));
    }
}
