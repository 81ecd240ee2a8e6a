//! Outbound HTTP through the gateway's egress. [`Fetch`] needs the grant `egress`; [`HostHandle::check_url`] needs none.

use super::HostHandle;
use crate::{
    abi::{FfiBytes, HostError, HostErrorCode},
    manifest::{FetchCall, FetchHead, UrlCheckCall, UrlCheckResult, UrlProblem},
};
use std::time::Duration;

/// An outbound request. Private addresses are refused; redirects are followed only up to [`Fetch::redirects_max`].
///
/// ```
/// use plugin_api::{Fetch, HostError, HostHandle};
/// use std::time::Duration;
///
/// async fn is_up(host: &HostHandle, url: &str) -> Result<bool, HostError> {
///     let response = Fetch::get(url).timeout(Duration::from_secs(5)).truncate_at(0).send(host).await?;
///     Ok(response.status < 500)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Fetch {
    request: FetchCall,
    body: Vec<u8>,
}

/// The response, with any status.
#[derive(Debug)]
pub struct FetchResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// The URL after redirects.
    pub url: String,
    pub body: FfiBytes,
}

impl Fetch {
    pub fn get(url: impl Into<String>) -> Self {
        Self::new("GET", url)
    }

    pub fn post(url: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        let mut fetch = Self::new("POST", url);
        fetch.body = body.into();
        fetch
    }

    pub fn new(method: &str, url: impl Into<String>) -> Self {
        Self {
            request: FetchCall { method: method.to_owned(), url: url.into(), ..Default::default() },
            body: Vec::new(),
        }
    }

    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.request.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Timeout of the whole exchange in place of the gateway's default; at most the gateway's maximum.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.request.timeout_ms = u64::try_from(timeout.as_millis()).ok();
        self
    }

    /// A smaller limit of the response body than the gateway's own; a longer body is an error.
    pub fn response_bytes_max(mut self, bytes: u64) -> Self {
        self.request.response_bytes_max = Some(bytes);
        self
    }

    /// Truncates a longer response body instead of failing. A limit of 0 waits for status and headers only.
    pub fn truncate_at(mut self, bytes: u64) -> Self {
        (self.request.response_bytes_max, self.request.cuts_overflow) = (Some(bytes), true);
        self
    }

    pub fn redirects_max(mut self, redirects: u8) -> Self {
        self.request.redirects_max = redirects;
        self
    }

    /// Sends the request. A refusal or failure is a [`HostErrorCode::Fetch`] whose message starts with its code and a colon.
    pub async fn send(self, host: &HostHandle) -> Result<FetchResponse, HostError> {
        let response = host.call_capability("fetch", &self.request, self.body.into()).await?;
        let head: FetchHead = serde_json::from_slice(&response.response)
            .map_err(|error| HostError::new(HostErrorCode::Internal, error.to_string()))?;
        Ok(FetchResponse { status: head.status, headers: head.headers, url: head.url, body: response.body })
    }
}

impl HostHandle {
    /// Checks a URL before it is stored: returns why it could never be fetched, or `None`. Only absolute http and https URLs
    /// of public hosts pass, without a user name and with at most 512 characters. It resolves no name and sends nothing.
    pub async fn check_url(&self, url: &str) -> Result<Option<UrlProblem>, HostError> {
        let request = UrlCheckCall { url: url.to_owned() };
        let response = self.call_capability("check_url", &request, FfiBytes::default()).await?;
        let check: UrlCheckResult = serde_json::from_slice(&response.response)
            .map_err(|error| HostError::new(HostErrorCode::Internal, error.to_string()))?;
        Ok(check.problem)
    }
}
