//! Outbound HTTP through the gateway's egress. [`Fetch`] needs the grant `egress`; [`HostHandle::check_url`] needs none.

use super::{FetchBody, FetchError, HostHandle};
use crate::{
    abi::{FfiBytes, HostError, HostErrorCode},
    manifest::{FetchCall, FetchHead, UrlCheckCall, UrlCheckResult, UrlProblem},
};
use serde::{Serialize, de::DeserializeOwned};
use std::time::Duration;

/// An outbound request. Private addresses are refused; redirects are followed only up to [`Fetch::redirects_max`]. A host gets a bounded
/// number of requests at once and per second, from all plugins; one beyond is [`FetchError::DestinationBusy`].
///
/// Nothing is decompressed. The gateway sends no `accept-encoding` of its own, and few servers compress then; they may, and they
/// do when you send that header. The body is then the compressed bytes, the limits count these, and the response has the server's
/// header `content-encoding`. [`FetchResponse::json`] fails for such a body.
///
/// ```
/// use plugin_api::{Fetch, HostHandle, handles::FetchError};
/// use std::time::Duration;
///
/// #[derive(serde::Serialize)]
/// struct Question<'a> {
///     text: &'a str,
/// }
///
/// #[derive(serde::Deserialize)]
/// struct Reply {
///     text: String,
/// }
///
/// async fn ask(host: &HostHandle, url: &str, text: &str) -> Result<String, FetchError> {
///     let request = Fetch::post(url).json(&Question { text }).timeout(Duration::from_secs(5));
///     let response = request.send(host).await?.error_for_status()?;
///     host.debug(response.header("server").unwrap_or("a server without a name"));
///     Ok(response.json::<Reply>()?.text)
/// }
/// ```
#[derive(Debug)]
pub struct Fetch {
    request: FetchCall,
    body: FfiBytes,
    /// Why the body could not be written as JSON.
    invalid: Option<String>,
}

/// The response, with any status. Its body is there as a whole after [`Fetch::send`], and a [`FetchBody`] after [`Fetch::stream`].
#[derive(Debug)]
pub struct FetchResponse<B = FfiBytes> {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// The URL after redirects.
    pub url: String,
    /// The bytes as the server sent them: nothing is decompressed.
    pub body: B,
}

impl Fetch {
    pub fn get(url: impl Into<String>) -> Self {
        Self::new("GET", url)
    }

    pub fn post(url: impl Into<String>) -> Self {
        Self::new("POST", url)
    }

    pub fn new(method: &str, url: impl Into<String>) -> Self {
        Self {
            request: FetchCall { method: method.to_owned(), url: url.into(), ..Default::default() },
            body: FfiBytes::default(),
            invalid: None,
        }
    }

    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.request.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The bytes to send, which are not copied; say what they are with the header `content-type`.
    pub fn body(mut self, body: impl Into<FfiBytes>) -> Self {
        self.body = body.into();
        self
    }

    /// A JSON body with its content type. A value that cannot be written as JSON fails in [`Self::send`].
    pub fn json(mut self, value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(body) => self.body = body.into(),
            Err(error) => self.invalid = Some(error.to_string()),
        }
        self.header("content-type", "application/json")
    }

    /// Timeout of the whole exchange, with [`Self::stream`] up to the head of the response, in place of the gateway's default; at
    /// most the gateway's maximum. A request that waits for a place for half of it is [`FetchError::Busy`].
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.request.timeout_ms = u64::try_from(timeout.as_millis()).ok();
        self
    }

    /// With [`Self::stream`]: how long a read may wait for more of the body, 60 s by default and at most ten minutes. Time in which
    /// nobody reads does not count.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.request.idle_timeout_ms = u64::try_from(timeout.as_millis()).ok();
        self
    }

    /// With [`Self::stream`]: timeout of the whole exchange. Without it, only the bytes of a body are bounded.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.request.total_timeout_ms = u64::try_from(timeout.as_millis()).ok();
        self
    }

    /// A smaller limit of the response body than the gateway's own (`egress.response_bytes_max`, with [`Self::stream`]
    /// `egress.stream_bytes_max`); a longer body is an error.
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

    /// Marks a probe or webhook, which no caller waits for. A host that never answered 2xx gets one of them a minute, from all plugins
    /// (`egress.unanswered_interval_ms`), whatever path and query are; further ones are [`FetchError::DestinationBusy`].
    pub fn background(mut self) -> Self {
        self.request.background = true;
        self
    }

    /// Sends the request. Any status is a response; see [`FetchResponse::error_for_status`].
    pub async fn send(self, host: &HostHandle) -> Result<FetchResponse, FetchError> {
        self.check()?;
        let response = host.call_capability("fetch", &self.request, self.body).await?;
        FetchResponse::new(&response.response, response.body)
    }

    /// Sends the request, and returns the response as soon as its head is there. The body is read while it arrives: see
    /// [`FetchBody`].
    pub async fn stream(self, host: &HostHandle) -> Result<FetchResponse<FetchBody>, FetchError> {
        self.check()?;
        let response = host.fetch_streamed(&self.request, self.body).await?;
        FetchResponse::new(&response.head, FetchBody::new(response.body))
    }

    fn check(&self) -> Result<(), FetchError> {
        let invalid = |reason| FetchError::Invalid(format!("the body cannot be written as JSON: {reason}"));
        self.invalid.as_ref().map_or(Ok(()), |reason| Err(invalid(reason)))
    }
}

impl<B> FetchResponse<B> {
    fn new(head: &[u8], body: B) -> Result<Self, FetchError> {
        let head: FetchHead =
            serde_json::from_slice(head).map_err(|error| HostError::new(HostErrorCode::Internal, error.to_string()))?;
        Ok(Self { status: head.status, headers: head.headers, url: head.url, body })
    }

    /// Whether the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The response, or a [`FetchError::Status`] when its status is not 2xx.
    pub fn error_for_status(self) -> Result<Self, FetchError> {
        if self.is_success() { Ok(self) } else { Err(FetchError::Status(self.status)) }
    }

    /// The first header with this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

impl FetchResponse {
    /// The body as JSON, whatever its content type; a [`FetchError::Json`] when it is another value.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, FetchError> {
        serde_json::from_slice(&self.body).map_err(|error| FetchError::Json(error.to_string()))
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
