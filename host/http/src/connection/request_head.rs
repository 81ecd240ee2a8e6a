//! The check of an HTTP/1 request head before hyper sees it. hyper responds to an unreadable head by itself, with an
//! empty response, and accepts some heads that RFC 9112 lets a server refuse. Rule: hyper never sees a head that it
//! would refuse. So this uses hyper's parser (httparse) and repeats the few checks that hyper adds.

use super::head_error::HeadError;
use http::{Uri, uri::Scheme};
use httparse::{Error, Header, Request, Status};
use std::mem::MaybeUninit;

/// hyper's own limit.
const HEADERS_MAX: usize = 100;
/// The `http` crate cannot hold longer ones.
const TARGET_BYTES_MAX: usize = 65_534;
const HEADER_NAME_BYTES_MAX: usize = 65_535;
/// Content-Length with at most so many digits fits into 64 bits.
const LENGTH_DIGITS_MAX: usize = 19;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadCheck {
    Incomplete,
    Valid(RequestHead),
    Refused(HeadError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestHead {
    /// Including the empty line at its end.
    pub bytes: usize,
    pub body: BodyLength,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyLength {
    Known(u64),
    Chunked,
}

/// Bytes that are valid in every target. A target with others is parsed.
const PLAIN_TARGET_BYTES: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0;
    while byte < 128_u8 {
        plain[byte as usize] = matches!(byte,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' | b'%' | b'?' | b'=' | b'&' | b'+' | b':' | b'@'
            | b'!' | b'$' | b'\'' | b'(' | b')' | b'*' | b',' | b';');
        byte += 1;
    }
    plain
};

/// Checks the head at the start of `bytes`; empty lines may come before it.
pub(crate) fn check_head(bytes: &[u8], head_bytes_max: usize) -> HeadCheck {
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    let mut request = Request::new(&mut []);
    match request.parse_with_uninit_headers(bytes, &mut headers) {
        Ok(Status::Complete(end)) if end > head_bytes_max => HeadCheck::Refused(too_large(bytes, head_bytes_max)),
        Ok(Status::Complete(end)) => match check_parsed(&request, &bytes[..end]) {
            Ok(body) => HeadCheck::Valid(RequestHead { bytes: end, body }),
            Err(error) => HeadCheck::Refused(error),
        },
        Ok(Status::Partial) if bytes.len() >= head_bytes_max => HeadCheck::Refused(too_large(bytes, head_bytes_max)),
        Ok(Status::Partial) => HeadCheck::Incomplete,
        Err(error) => HeadCheck::Refused(parse_error(error, &request, bytes)),
    }
}

/// Counts one byte value in parts of 255 bytes, which lets the compiler compare many bytes at a time.
fn count_byte(bytes: &[u8], wanted: u8) -> usize {
    let parts = bytes.chunks(usize::from(u8::MAX));
    parts.map(|part| usize::from(part.iter().map(|byte| u8::from(*byte == wanted)).sum::<u8>())).sum()
}

/// What hyper gets in place of a refused head: its request line, for the log, if that is readable. The rest is dropped,
/// so that no part of it has an effect.
pub(crate) fn placeholder_head(bytes: &[u8]) -> Vec<u8> {
    let line = bytes.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line_only = [line.trim_ascii_end(), b"\r\n\r\n"].concat();
    let mut request = Request::new(&mut []);
    let readable = request.parse(&line_only).is_ok_and(|status| status.is_complete());
    match (request.method, request.path) {
        (Some(method), Some(target)) if readable && is_target(target) => format!("{method} {target} HTTP/1.1\r\n\r\n"),
        // A client that sent HEAD would read a body as the start of the next response.
        _ if line.starts_with(b"HEAD ") => "HEAD * HTTP/1.1\r\n\r\n".to_owned(),
        _ => "- * HTTP/1.1\r\n\r\n".to_owned(),
    }
    .into_bytes()
}

fn check_parsed(request: &Request<'_, '_>, head: &[u8]) -> Result<BodyLength, HeadError> {
    // In a head that httparse accepts, CR and LF occur only at the end of a line, and only the CR can be missing there.
    if count_byte(head, b'\r') != count_byte(head, b'\n') {
        return Err(HeadError::LineEnd);
    }
    let target = request.path.unwrap_or_default();
    if target.len() > TARGET_BYTES_MAX {
        return Err(HeadError::TargetTooLong);
    }
    if !is_target(target) {
        return Err(HeadError::Target);
    }
    body_length(request)
}

/// Whether hyper accepts the target, and it is a path or a URL of HTTP without a fragment, which clients keep to themselves and
/// hyper would drop. Most targets are plain; only the others are parsed here, and again by hyper.
fn is_target(target: &str) -> bool {
    let plain = target.starts_with('/') && target.bytes().all(|byte| PLAIN_TARGET_BYTES[usize::from(byte)]);
    target.len() <= TARGET_BYTES_MAX && (plain || !target.contains('#') && target.parse::<Uri>().is_ok_and(is_http))
}

fn is_http(target: Uri) -> bool {
    target.scheme().is_none_or(|scheme| *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS)
}

fn body_length(request: &Request<'_, '_>) -> Result<BodyLength, HeadError> {
    let mut length = None;
    for Header { name, value } in &*request.headers {
        let announced = if name.eq_ignore_ascii_case("content-length") {
            BodyLength::Known(parse_length(value).ok_or(HeadError::InvalidLength)?)
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            if request.version != Some(1) || !value.eq_ignore_ascii_case(b"chunked") {
                return Err(HeadError::TransferCoding);
            }
            BodyLength::Chunked
        } else if name.len() > HEADER_NAME_BYTES_MAX {
            return Err(HeadError::TooLarge);
        } else {
            continue;
        };
        if length.replace(announced).is_some() {
            return Err(HeadError::DuplicateLength);
        }
    }
    Ok(length.unwrap_or(BodyLength::Known(0)))
}

fn parse_length(digits: &[u8]) -> Option<u64> {
    let is_number = (1..=LENGTH_DIGITS_MAX).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    if is_number { std::str::from_utf8(digits).ok()?.parse().ok() } else { None }
}

/// Either the request line alone is too long, or the whole head.
fn too_large(bytes: &[u8], head_bytes_max: usize) -> HeadError {
    let line = bytes[..bytes.len().min(head_bytes_max)].trim_ascii_start();
    if line.contains(&b'\n') { HeadError::TooLarge } else { HeadError::TargetTooLong }
}

fn parse_error(error: Error, request: &Request<'_, '_>, bytes: &[u8]) -> HeadError {
    match error {
        Error::Token if bytes.starts_with(&[0x16, 0x03]) => HeadError::Tls,
        Error::Token if request.method.is_none() => HeadError::Method,
        Error::Token => HeadError::Target,
        Error::Version | Error::Status => HeadError::Version,
        Error::NewLine => HeadError::LineEnd,
        Error::HeaderName => HeadError::HeaderName,
        Error::HeaderValue => HeadError::HeaderValue,
        Error::TooManyHeaders => HeadError::TooManyHeaders,
    }
}
