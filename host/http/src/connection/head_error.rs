//! Why the head of a request is refused. Rule: the client can correct every one of these errors, so every status is a
//! 4xx; a 5xx that any client can cause with malformed bytes (505, 501) would only alert operators.

use plugin_api::response::Problem;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadError {
    /// The first bytes of a TLS handshake.
    Tls,
    Method,
    Target,
    TargetTooLong,
    Version,
    /// HTTP/2 by prior knowledge while it is switched off.
    Http2Disabled,
    LineEnd,
    HeaderName,
    HeaderValue,
    TooManyHeaders,
    TooLarge,
    /// `Content-Length` twice, or together with `Transfer-Encoding`: the usual form of request smuggling.
    DuplicateLength,
    InvalidLength,
    TransferCoding,
    /// The client closed its side of the connection within the head.
    Incomplete,
    Timeout,
}

impl HeadError {
    pub(crate) fn problem(self) -> Problem {
        let (status, code, message, hint) = self.parts();
        Problem::new(status, code, message).hint(hint)
    }

    /// The machine code of the error body, also the metric label.
    pub(crate) fn code(self) -> &'static str {
        self.parts().1
    }

    /// Status, code, message, hint.
    fn parts(self) -> (u16, &'static str, &'static str, &'static str) {
        const LINE: &str = "begin with a line like GET /api HTTP/1.1, or use an HTTP library";
        const HEADER: &str = "send each header as `Name: value` on a line of its own, without control characters";
        const FRAMING: &str = "use an HTTP library, or end each line with CR LF and announce the body's length once";
        match self {
            Self::Tls => (400, "tls", "this port speaks HTTP without TLS", "use http://, or the proxy that speaks TLS"),
            Self::Method => (400, "bad_request_line", "the request does not begin with a method", LINE),
            Self::Target => {
                (400, "bad_request_line", "the request target is no path and no http URL, or has a fragment", LINE)
            }
            Self::TargetTooLong => (414, "target_too_long", "the path and query are too long", "ask for less at once"),
            Self::Version => (400, "bad_version", "the request line does not end with HTTP/1.1 or HTTP/1.0", LINE),
            Self::Http2Disabled => (400, "http2_off", "HTTP/2 is switched off on this gateway", "use HTTP/1.1"),
            Self::LineEnd => (400, "bad_framing", "a line of the request head does not end with CR LF", FRAMING),
            Self::HeaderName => (400, "bad_header", "a header's name is empty or has a forbidden character", HEADER),
            Self::HeaderValue => (400, "bad_header", "a header's value has a forbidden character", HEADER),
            Self::TooManyHeaders => (431, "head_too_large", "the request has too many headers", "send at most 100"),
            Self::TooLarge => (431, "head_too_large", "the request head is too large", "send fewer or shorter headers"),
            Self::DuplicateLength => {
                (400, "bad_framing", "the length of the request's body is announced twice", FRAMING)
            }
            Self::InvalidLength => (400, "bad_framing", "Content-Length is not a number of bytes", FRAMING),
            Self::TransferCoding => (400, "bad_framing", "the only transfer coding is chunked, of HTTP/1.1", FRAMING),
            Self::Incomplete => {
                (400, "unfinished_head", "the request ended within its head", "end it with an empty line")
            }
            Self::Timeout => (408, "head_timeout", "the request head did not arrive in time", "send it at once"),
        }
    }
}
