//! A request as a plugin makes it, its response, and the validation of a request up to its resolved address.

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

#[derive(Debug, Clone)]
pub struct FetchResponse {
    pub status: u16,
    /// In the order received; values that are not UTF-8 have replacement characters.
    pub headers: Vec<(String, String)>,
    /// As received: content encodings are not decoded.
    pub body: Bytes,
    /// The body was longer, or was not read; only with [`Overflow::Truncate`].
    pub is_truncated: bool,
    /// The URL of the response, after redirects.
    pub url: String,
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
        }
    }
}

/// A request that passed every check that needs no network.
pub(crate) struct ValidRequest {
    pub hop: Hop,
    pub timeout_ms: u64,
    pub response_bytes_max: u64,
    pub overflow: Overflow,
    pub redirects_max: u8,
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
    pub fn new(request: FetchRequest, settings: &EgressSettings, allow: &AllowList) -> Result<Self, EgressError> {
        let method = METHODS.iter().find(|method| method.as_str() == request.method).ok_or_else(|| {
            EgressError::BadMethod { method: request.method.chars().take(NAME_CHARS_SHOWN).collect() }
        })?;
        let url = check_request_url(&request.url, allow)?;
        let headers = check_headers(&request.headers)?;
        if request.body.len() as u64 > settings.request_bytes_max {
            return Err(EgressError::RequestTooLarge { bytes_max: settings.request_bytes_max });
        }
        let at_most = |requested: Option<u64>, max: u64| requested.map_or(max, |requested| requested.min(max));
        Ok(Self {
            hop: Hop { method: method.clone(), url, headers, body: request.body },
            timeout_ms: request.timeout_ms.unwrap_or(settings.timeout_ms).min(settings.timeout_max_ms),
            response_bytes_max: at_most(request.response_bytes_max, settings.response_bytes_max),
            overflow: request.overflow,
            redirects_max: request.redirects_max.min(REDIRECTS_MAX),
        })
    }
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
