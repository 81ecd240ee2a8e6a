//! A request that the gateway passes on to the server of whoever is paid for the answer: an agent, a provider of compute.
//!
//! The rule: nothing of the caller's request goes on but its body and the type of that body, and nothing of the answer comes back but
//! its status, its body and what the body is. So neither side gets the other's credentials, payments or cookies.

use super::{ApiError, FetchError, FetchResponse, HandlerError, HostHandle, IntoResponse, RequestContext, response};
use crate::{
    abi::{self, FfiBytes, HostError},
    sdk::Fetch,
};
use abi_stable::std_types::{RCowStr, Tuple2};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;
/// A longer content type is not passed on, in either direction.
const CONTENT_TYPE_CHARS_MAX: usize = 256;
const JSON: &str = "application/json";
const BYTES: &str = "application/octet-stream";
/// What a browser cannot run as a page of this gateway.
const HARMLESS_TYPES: [&str; 3] = [JSON, "text/plain", "application/x-ndjson"];
const CODINGS: [&str; 4] = ["gzip", "br", "deflate", "zstd"];

/// A POST to `<endpoint>/invoke`, for the request that a handler answers.
///
/// It has the gateway's own headers: `User-Agent`, and with the deployment's prefix `Hop`, and `Payer` and `Payment-Nonce` of a
/// paid request. The server has 60 s and 1 MiB for its answer, and no redirect is followed.
///
/// ```
/// use plugin_api::{ApiError, HandlerError, Query, RequestContext, Route, sql};
/// use plugin_api::{extract::Body, response::{Forward, ForwardError, Forwarded}};
///
/// # struct Notes;
/// #[derive(Debug, ApiError)]
/// enum NotesError {
///     #[api(transparent)]
///     Forward(#[from] ForwardError),
/// }
///
/// fn route() -> Route<Notes> {
///     Route::post("/api/notes/print", print_note).public().timeout_ms(Forward::HANDLER_TIMEOUT_MS)
/// }
///
/// async fn print_note(cx: RequestContext<Notes>, Body(note): Body) -> Result<Forwarded, HandlerError<NotesError>> {
///     let printer: String = cx.db().one(sql("SELECT endpoint FROM notes_printers")).await?;
///     Forward::to(&cx, &printer).map_err(NotesError::from)?.header(&cx, "Printer-Id", "7").send(&cx, note).await
/// }
/// ```
#[derive(Debug)]
pub struct Forward {
    url: String,
    content_type: String,
    /// Names with the prefix.
    headers: Vec<(String, String)>,
    timeout: Duration,
}

/// What the server answered, whatever its status: a response of the same status with the same body. The type of the body is kept if
/// it is JSON, plain text or NDJSON; anything else is passed on as bytes of no type.
#[derive(Debug)]
pub struct Forwarded {
    pub status: u16,
    pub content_type: String,
    /// The header `content-encoding`: how the body is compressed.
    pub coding: Option<&'static str>,
    pub body: FfiBytes,
}

/// Why a server's answer cannot be passed on.
#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum ForwardError {
    #[api(
        502,
        "bad_endpoint",
        "the endpoint cannot be called: {0}",
        hint = "its owner has to correct the endpoint; choose another provider meanwhile"
    )]
    BadEndpoint(String),
    #[api(
        502,
        "own_endpoint",
        "the endpoint leads back to this gateway",
        hint = "its owner has to correct the endpoint; choose another provider meanwhile"
    )]
    OwnEndpoint,
    #[api(
        508,
        "loop",
        "this request came through this gateway before: an endpoint leads back to it",
        hint = "call the provider that you mean without the header that gateways add"
    )]
    Loop,
    #[api(
        502,
        "too_large",
        "the answer is larger than {ANSWER_BYTES_MAX} bytes",
        hint = "ask for less, or for an address of the result"
    )]
    TooLarge,
    #[api(502, "bad_answer", "the server was called, and its answer cannot be used: {0}", hint = "repeat it later")]
    BadAnswer(String),
    #[api(
        504,
        "unreachable",
        "the server cannot be reached: {0}",
        hint = "repeat it later, or choose another provider"
    )]
    Unreachable(String),
    #[api(
        504,
        "timeout",
        "the server did not answer in time: {0}",
        hint = "repeat it later, or choose another provider"
    )]
    Timeout(String),
    #[api(
        503,
        "provider_busy",
        "too many calls are waiting for answers",
        hint = "repeat it when the header Retry-After says",
        header("retry-after" = retry_after_s)
    )]
    Busy { retry_after_s: u32 },
}

impl ForwardError {
    /// All places are taken by other calls.
    pub(super) const BUSY: Self = Self::Busy { retry_after_s: 5 };
}

impl Forward {
    /// The time limit of a handler that forwards: longer than the server's, so that the handler answers.
    pub const HANDLER_TIMEOUT_MS: u64 = 75_000;

    /// Checks what can be checked without a call: also for the price of a request, so that nobody pays for what cannot be done.
    pub fn to<P>(cx: &RequestContext<P>, endpoint: &str) -> Result<Self, ForwardError> {
        let prefix = &cx.environment().brand.header_prefix;
        if cx.header(&format!("{prefix}-Hop").to_lowercase()).is_some() {
            return Err(ForwardError::Loop);
        }
        let host = host(endpoint).ok_or_else(|| ForwardError::BadEndpoint("it is no http or https URL".to_owned()))?;
        if Some(host) == self::host(&cx.environment().base_url) {
            return Err(ForwardError::OwnEndpoint);
        }
        let content_type = cx.header("content-type").filter(|text| text.len() <= CONTENT_TYPE_CHARS_MAX);
        Ok(Self {
            url: invoke_url(endpoint),
            content_type: content_type.unwrap_or(JSON).to_owned(),
            headers: vec![(format!("{prefix}-Hop"), "1".to_owned())],
            timeout: TIMEOUT,
        })
    }

    /// Adds a header of the gateway; `name` stands behind the deployment's prefix.
    pub fn header<P>(mut self, cx: &RequestContext<P>, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((format!("{}-{name}", cx.environment().brand.header_prefix), value.into()));
        self
    }

    /// Adds a parameter to the query.
    pub fn query(mut self, name: &str, value: u64) -> Self {
        let mark = if self.url.contains('?') { '&' } else { '?' };
        self.url = format!("{}{mark}{name}={value}", self.url);
        self
    }

    /// Gives the server less time for its answer than the 60 s that it has otherwise.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: timeout.min(TIMEOUT), ..self }
    }

    /// Sends `body` with another type than that of the request.
    pub fn json(self) -> Self {
        Self { content_type: JSON.to_owned(), ..self }
    }

    /// Waits for the whole answer. A payment of the request is named to the server.
    pub async fn send<P, E: From<ForwardError>>(
        mut self,
        cx: &RequestContext<P>,
        body: FfiBytes,
    ) -> Result<Forwarded, HandlerError<E>> {
        if let Some(payment) = cx.payment() {
            self = self.header(cx, "Payer", payment.payer.to_string()).header(cx, "Payment-Nonce", payment.nonce);
        }
        let host: &HostHandle = cx.plugin_context();
        let answer = self.fetch(&host.environment().brand.marker, body).send(host).await;
        let answer = answer.map_err(forward_error)?;
        Forwarded::new(answer).map_err(|error| HandlerError::Caller(error.into()))
    }

    fn fetch(self, marker: &str, body: FfiBytes) -> Fetch {
        let fetch = Fetch::post(self.url)
            .body(body)
            .header("content-type", self.content_type)
            .header("user-agent", format!("{marker}-gateway/invoke"))
            .timeout(self.timeout)
            .response_bytes_max(ANSWER_BYTES_MAX);
        self.headers.into_iter().fold(fetch, |fetch, (name, value)| fetch.header(&name, value))
    }
}

fn forward_error<E: From<ForwardError>>(error: FetchError) -> HandlerError<E> {
    let error = match error {
        FetchError::Refused(text) | FetchError::Invalid(text) => ForwardError::BadEndpoint(text),
        FetchError::Busy(_) => ForwardError::BUSY,
        FetchError::DestinationBusy { retry_after, .. } => {
            ForwardError::Busy { retry_after_s: u32::try_from(retry_after.as_secs()).unwrap_or(u32::MAX) }
        }
        FetchError::Timeout(text) => ForwardError::Timeout(text),
        FetchError::Connect(text) => ForwardError::Unreachable(text),
        FetchError::TooLarge(_) => ForwardError::TooLarge,
        FetchError::Broken(text) => ForwardError::BadAnswer(text),
        other => return HandlerError::Host(HostError::from(other)),
    };
    HandlerError::Caller(error.into())
}

impl Forwarded {
    fn new(answer: FetchResponse) -> Result<Self, ForwardError> {
        let status = answer.status;
        if !(200..300).contains(&status) && !(400..600).contains(&status) {
            return Err(ForwardError::BadAnswer(format!(
                "its status {status} is no result, and redirects are not followed"
            )));
        }
        let content_type = answer.header("content-type").and_then(harmless_type).unwrap_or_else(|| BYTES.to_owned());
        let coding = answer.header("content-encoding").map(str::trim).filter(|coding| !coding.is_empty());
        let coding = match coding {
            None => None,
            Some(coding) if coding.eq_ignore_ascii_case("identity") => None,
            Some(coding) => {
                let known = CODINGS.into_iter().find(|known| coding.eq_ignore_ascii_case(known));
                Some(known.ok_or_else(|| {
                    ForwardError::BadAnswer("it is compressed in a way that HTTP does not know".to_owned())
                })?)
            }
        };
        Ok(Self { status, content_type, coding, body: answer.body })
    }

    /// Whether the server did what it was asked for.
    pub fn is_success(&self) -> bool {
        self.status < 300
    }
}

impl IntoResponse for Forwarded {
    fn into_response(self) -> abi::Response {
        let mut response = response::full(self.status, self.content_type, self.body);
        if let Some(coding) = self.coding {
            response.headers.push(Tuple2("content-encoding".into(), RCowStr::from(coding)));
        }
        response
    }
}

/// The content type with its parameters, if a browser runs nothing of that type.
fn harmless_type(content_type: &str) -> Option<String> {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    let is_sendable = content_type.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    let is_harmless = HARMLESS_TYPES.iter().any(|harmless| harmless.eq_ignore_ascii_case(essence));
    (is_harmless && is_sendable && content_type.len() <= CONTENT_TYPE_CHARS_MAX).then(|| content_type.trim().to_owned())
}

/// `<endpoint>/invoke`; a query of the endpoint stays behind it.
fn invoke_url(endpoint: &str) -> String {
    let endpoint = endpoint.split('#').next().unwrap_or_default();
    match endpoint.split_once('?') {
        Some((path, query)) => format!("{}/invoke?{query}", path.trim_end_matches('/')),
        None => format!("{}/invoke", endpoint.trim_end_matches('/')),
    }
}

/// Host and port of an http or https URL, in lower case, without a port that is the scheme's own. Spellings that another parser
/// could read as another host are refused by the egress.
fn host(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let own_port = match scheme.to_ascii_lowercase().as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => return None,
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
    let host = host.strip_suffix(own_port).unwrap_or(&host);
    (!host.is_empty()).then(|| host.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::*;

    fn forwarded(status: u16, headers: &[(&str, &str)]) -> Result<Forwarded, ForwardError> {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Forwarded::new(FetchResponse { status, headers, url: String::new(), body: FfiBytes::from_static(b"body") })
    }

    #[test]
    fn the_call_goes_below_the_endpoint() {
        for (endpoint, url) in [
            ("https://a.example", "https://a.example/invoke"),
            ("https://a.example/x//", "https://a.example/x/invoke"),
            ("https://a.example/x/?key=1#top", "https://a.example/x/invoke?key=1"),
        ] {
            assert_eq!(invoke_url(endpoint), url);
        }
    }

    #[test]
    fn a_host_is_the_same_in_each_spelling() {
        for url in ["http://A.example", "HTTP://a.example:80/x", "https://a.example:443?x", "https://u:p@a.example#x"] {
            assert_eq!(host(url).as_deref(), Some("a.example"), "{url}");
        }
        assert_eq!(host("http://a.example:443").as_deref(), Some("a.example:443"));
        assert_eq!(host("http://[::1]:8080/x").as_deref(), Some("[::1]:8080"));
        for url in ["", "a.example", "ftp://a.example", "http:a.example", "http://", "https:///x"] {
            assert_eq!(host(url), None, "{url}");
        }
    }

    #[test]
    fn only_harmless_types_are_kept() {
        for kept in ["application/json", "Text/Plain; charset=utf-8", "application/x-ndjson"] {
            assert_eq!(forwarded(200, &[("Content-Type", kept)]).unwrap().content_type, kept);
        }
        let long = format!("application/json; x={}", "x".repeat(300));
        for other in ["text/html", "image/svg+xml", "", "application/json, text/html", "text/plain; x=é", &long] {
            assert_eq!(forwarded(200, &[("content-type", other)]).unwrap().content_type, BYTES, "{other}");
        }
        assert_eq!(forwarded(200, &[]).unwrap().content_type, BYTES);
    }

    #[test]
    fn a_compressed_body_says_so_and_an_unknown_coding_is_no_answer() {
        assert_eq!(forwarded(200, &[("content-encoding", "GZIP")]).unwrap().coding, Some("gzip"));
        assert_eq!(forwarded(200, &[("content-encoding", " identity ")]).unwrap().coding, None);
        assert!(matches!(forwarded(200, &[("content-encoding", "gzip, br")]), Err(ForwardError::BadAnswer(_))));
    }

    #[test]
    fn each_failure_of_a_call_has_its_status() {
        let text = || "x".to_owned();
        for (error, status, code) in [
            (FetchError::Refused(text()), 502, "bad_endpoint"),
            (FetchError::Invalid(text()), 502, "bad_endpoint"),
            (FetchError::TooLarge(text()), 502, "too_large"),
            (FetchError::Broken(text()), 502, "bad_answer"),
            (FetchError::Busy(text()), 503, "provider_busy"),
            (FetchError::DestinationBusy { reason: text(), retry_after: Duration::from_secs(7) }, 503, "provider_busy"),
            (FetchError::Connect(text()), 504, "unreachable"),
            (FetchError::Timeout(text()), 504, "timeout"),
        ] {
            let HandlerError::Caller(failed) = forward_error::<ForwardError>(error) else {
                panic!("{code} is a fault")
            };
            assert_eq!((failed.spec().status, failed.spec().code), (status, code));
        }
    }

    #[test]
    fn results_and_errors_pass_and_redirects_do_not() {
        for status in [200, 204, 299, 400, 402, 503, 599] {
            assert_eq!(forwarded(status, &[]).unwrap().status, status);
        }
        for status in [101, 199, 300, 302, 304, 399, 600, 999] {
            assert!(matches!(forwarded(status, &[]), Err(ForwardError::BadAnswer(_))), "{status}");
        }
        assert!(forwarded(204, &[]).unwrap().is_success() && !forwarded(404, &[]).unwrap().is_success());
    }
}
