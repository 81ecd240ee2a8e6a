//! What a plugin asks for and gets, and the check of everything in a request but its address.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use url::Url;

use super::{AllowList, EgressError, EgressSettings, target::check_called_url};

/// One outbound request. Limits left `None` are the settings'; larger ones are cut to them.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    pub timeout_ms: Option<u64>,
    pub response_bytes_max: Option<u64>,
    /// What happens to an answer body over the limit.
    pub overflow: Overflow,
    /// 0: a redirect is an answer like any other. Else it is followed up to this often, at most 3 times, and one more
    /// is an error. 301, 302 and 303 become GET without body; the headers are dropped for good at a change of origin.
    pub redirects_max: u8,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Overflow {
    /// The fetch fails with `too_large`.
    #[default]
    Refuse,
    /// The body is cut at the limit and reading stops: for callers to whom the status matters. With a limit of 0 the
    /// body is not waited for at all.
    Cut,
}

#[derive(Debug, Clone)]
pub struct FetchResponse {
    pub status: u16,
    /// In the order received; values that are not UTF-8 have replacement characters.
    pub headers: Vec<(String, String)>,
    /// As sent: content encodings are not undone.
    pub body: Bytes,
    /// The body went on, or was not read; only with [`Overflow::Cut`].
    pub cut: bool,
    /// The URL that answered, after redirects.
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
            overflow: Overflow::Refuse,
            redirects_max: 0,
        }
    }
}

/// A request that passed every check that needs no network.
pub(super) struct Plan {
    pub hop: Hop,
    pub timeout_ms: u64,
    pub response_bytes_max: u64,
    pub overflow: Overflow,
    pub redirects_max: u8,
}

/// One request on the wire; a redirect makes the next one.
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

/// They say where the message goes and where it ends, or speak to a proxy: with them a plugin could smuggle a second
/// request or another host past the check.
const HOST_OWNED_HEADERS: &[&str] = &[
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

impl Plan {
    pub fn new(request: FetchRequest, settings: &EgressSettings, allow: &AllowList) -> Result<Self, EgressError> {
        let method = METHODS.iter().find(|known| known.as_str() == request.method).ok_or_else(|| {
            EgressError::BadMethod { method: request.method.chars().take(NAME_CHARS_SHOWN).collect() }
        })?;
        let url = check_called_url(&request.url, allow)?;
        let headers = check_headers(&request.headers)?;
        if request.body.len() as u64 > settings.request_bytes_max {
            return Err(EgressError::RequestTooLarge { bytes_max: settings.request_bytes_max });
        }
        let at_most = |asked: Option<u64>, max: u64| asked.map_or(max, |asked| asked.min(max));
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
    let refused = |name: &str, problem| EgressError::RefusedHeader {
        name: name.chars().take(NAME_CHARS_SHOWN).collect(),
        problem,
    };
    if headers.len() > REQUEST_HEADERS_MAX {
        return Err(refused(&headers[REQUEST_HEADERS_MAX].0, "is one too many (64 are sent)"));
    }
    let mut map = HeaderMap::new();
    let mut bytes = 0;
    for (name, value) in headers {
        bytes += name.len() + value.len();
        if bytes > REQUEST_HEADER_BYTES_MAX {
            return Err(refused(name, "makes the headers larger than 16 KiB"));
        }
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_invalid| refused(name, "is not a header name"))?;
        if HOST_OWNED_HEADERS.contains(&key.as_str()) || key.as_str().starts_with("proxy-") {
            return Err(refused(name, "is the gateway's to set"));
        }
        let value =
            HeaderValue::from_str(value).map_err(|_invalid| refused(name, "has a value that cannot be sent"))?;
        map.append(key, value);
    }
    Ok(map)
}

const NAME_CHARS_SHOWN: usize = 64;
