//! A request as a plugin makes it, and its validation up to its resolved address.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use url::Url;

use super::{allow_list::AllowList, error::EgressError, settings::EgressSettings, url_check::check_request_url};

/// One outbound request. The settings are the default of a limit that is `None`, and its maximum.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    pub timeout_ms: Option<u64>,
    pub response_bytes_max: Option<u64>,
    /// What happens to a response body over the limit.
    pub overflow: Overflow,
    /// 0: a redirect is returned like any other response. Otherwise it is followed up to this often, at most 3 times,
    /// and one more is an error. 301, 302 and 303 become GET without body; a change of origin drops the headers for
    /// good.
    pub redirects_max: u8,
    /// A probe or webhook, which no caller waits for. A destination that never answered 2xx gets one of these in
    /// [`EgressSettings::unanswered_interval_ms`].
    pub is_background: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Overflow {
    /// The fetch fails with `too_large`.
    #[default]
    Fail,
    /// The body is truncated at the limit and reading stops: for callers that need only the status. With a limit of 0
    /// the body is not waited for at all.
    Truncate,
}

/// Time limits of a response that is read while it arrives. [`FetchRequest::timeout_ms`] is the one up to its head.
#[derive(Debug, Clone, Copy, Default)]
pub struct StreamTimeouts {
    /// How long the reader waits for more of the body. Time in which it does not read does not count. At most ten minutes.
    pub idle_ms: Option<u64>,
    /// From the request to the last byte; without it, only bytes are bounded.
    pub total_ms: Option<u64>,
}

impl FetchRequest {
    pub fn new(method: &str, url: &str) -> Self {
        Self {
            method: method.to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: Bytes::new(),
            timeout_ms: None,
            response_bytes_max: None,
            overflow: Overflow::Fail,
            redirects_max: 0,
            is_background: false,
        }
    }
}

/// A request that passed every check that needs no network.
pub(crate) struct ValidRequest {
    pub hop: Hop,
    /// Up to the head of the response.
    pub head_timeout_ms: u64,
    pub body_limits: BodyLimits,
    pub redirects_max: u8,
    pub is_background: bool,
}

/// How much of a body is read, and for how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyLimits {
    pub bytes_max: u64,
    pub overflow: Overflow,
    /// While the reader waits.
    pub idle_ms: Option<u64>,
    /// From the request on.
    pub total_ms: Option<u64>,
}

/// One request on the wire; a redirect creates the next one.
#[derive(Debug, Clone)]
pub(super) struct Hop {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Bytes,
}

const REDIRECTS_MAX: u8 = 3;
const IDLE_TIMEOUT_MS_MAX: u64 = 600_000;
const REQUEST_HEADERS_MAX: usize = 64;
const REQUEST_HEADER_BYTES_MAX: usize = 16 * 1024;
const METHODS: &[Method] =
    &[Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS];

/// These headers decide where the message goes and where it ends, or address a proxy: with them a plugin could smuggle
/// a second request or another host past the check.
const FORBIDDEN_HEADERS: &[&str] = &[
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "upgrade",
    "http2-settings",
    "te",
    "trailer",
    "expect",
];

impl ValidRequest {
    /// `stream`: the response is read while it arrives, otherwise as a whole.
    pub(crate) fn new(
        request: FetchRequest,
        stream: Option<StreamTimeouts>,
        settings: &EgressSettings,
        allow: &AllowList,
    ) -> Result<Self, EgressError> {
        let method = METHODS.iter().find(|method| method.as_str() == request.method).ok_or_else(|| {
            EgressError::BadMethod { method: request.method.chars().take(NAME_CHARS_SHOWN).collect() }
        })?;
        let url = check_request_url(&request.url, allow)?;
        let headers = check_headers(&request.headers)?;
        if request.body.len() as u64 > settings.request_bytes_max {
            return Err(EgressError::RequestTooLarge { bytes_max: settings.request_bytes_max });
        }
        let timeout_ms = request.timeout_ms.unwrap_or(settings.timeout_ms).min(settings.timeout_max_ms);
        let body_limits = match stream {
            None => BodyLimits::collected(&request, timeout_ms, settings),
            Some(timeouts) => BodyLimits::streamed(&request, timeouts, settings),
        };
        Ok(Self {
            hop: Hop { method: method.clone(), url, headers, body: request.body },
            head_timeout_ms: body_limits.total_ms.map_or(timeout_ms, |total_ms| timeout_ms.min(total_ms)),
            body_limits,
            redirects_max: request.redirects_max.min(REDIRECTS_MAX),
            is_background: request.is_background,
        })
    }
}

impl BodyLimits {
    fn collected(request: &FetchRequest, timeout_ms: u64, settings: &EgressSettings) -> Self {
        Self {
            bytes_max: at_most(request.response_bytes_max, settings.response_bytes_max),
            overflow: request.overflow,
            idle_ms: None,
            total_ms: Some(timeout_ms),
        }
    }

    fn streamed(request: &FetchRequest, timeouts: StreamTimeouts, settings: &EgressSettings) -> Self {
        Self {
            bytes_max: at_most(request.response_bytes_max, settings.stream_bytes_max),
            overflow: request.overflow,
            idle_ms: Some(timeouts.idle_ms.unwrap_or(settings.idle_timeout_ms).min(IDLE_TIMEOUT_MS_MAX)),
            total_ms: timeouts.total_ms,
        }
    }
}

fn at_most(requested: Option<u64>, max: u64) -> u64 {
    requested.map_or(max, |requested| requested.min(max))
}

fn check_headers(headers: &[(String, String)]) -> Result<HeaderMap, EgressError> {
    let invalid = |name: &str, problem| EgressError::InvalidHeader {
        name: name.chars().take(NAME_CHARS_SHOWN).collect(),
        problem,
    };
    if headers.len() > REQUEST_HEADERS_MAX {
        return Err(invalid(&headers[REQUEST_HEADERS_MAX].0, "is one too many (64 are sent)"));
    }
    let mut map = HeaderMap::new();
    let mut bytes = 0;
    for (name, value) in headers {
        bytes += name.len() + value.len();
        if bytes > REQUEST_HEADER_BYTES_MAX {
            return Err(invalid(name, "makes the headers larger than 16 KiB"));
        }
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_invalid| invalid(name, "is not a header name"))?;
        if FORBIDDEN_HEADERS.contains(&key.as_str()) || key.as_str().starts_with("proxy-") {
            return Err(invalid(name, "is the gateway's to set"));
        }
        let value =
            HeaderValue::from_str(value).map_err(|_invalid| invalid(name, "has a value that cannot be sent"))?;
        map.append(key, value);
    }
    Ok(map)
}

const NAME_CHARS_SHOWN: usize = 64;
