//! The head of an HTTP/1 request, looked at before hyper sees it. hyper answers a head that it cannot read by itself, with
//! nothing in the answer, and reads leniently what RFC 9112 lets a server refuse. Rule: hyper never gets to see a head that
//! it would refuse. So this uses the parser that hyper uses, and repeats the few checks that hyper adds.

use super::violation::Violation;
use http::Uri;
use httparse::{Error, Header, Request, Status};
use std::mem::MaybeUninit;

/// As many as hyper reads.
const HEADERS_MAX: usize = 100;
/// Beyond these the `http` crate cannot hold them.
const TARGET_BYTES_MAX: usize = 65_534;
const HEADER_NAME_BYTES_MAX: usize = 65_535;
/// Content-Length has no more digits, so that it fits into 64 bits.
const LENGTH_DIGITS_MAX: usize = 19;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examined {
    Incomplete,
    Good(Head),
    Refused(Violation),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Up to and with its empty line.
    pub bytes: usize,
    pub body: Length,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    Known(u64),
    Chunked,
}

/// Characters of a target that is surely one.
const PLAIN: [bool; 256] = {
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

/// `bytes` begin with a head, or with empty lines before it.
pub fn examine(bytes: &[u8], head_bytes_max: usize) -> Examined {
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    let mut request = Request::new(&mut []);
    match request.parse_with_uninit_headers(bytes, &mut headers) {
        Ok(Status::Complete(end)) if end > head_bytes_max => Examined::Refused(too_large(bytes, head_bytes_max)),
        Ok(Status::Complete(end)) => match check(&request, &bytes[..end]) {
            Ok(body) => Examined::Good(Head { bytes: end, body }),
            Err(violation) => Examined::Refused(violation),
        },
        Ok(Status::Partial) if bytes.len() >= head_bytes_max => Examined::Refused(too_large(bytes, head_bytes_max)),
        Ok(Status::Partial) => Examined::Incomplete,
        Err(error) => Examined::Refused(unreadable(error, &request, bytes)),
    }
}

/// Of one byte value, so that the compiler compares many bytes at a time.
fn count(bytes: &[u8], wanted: u8) -> usize {
    let parts = bytes.chunks(usize::from(u8::MAX));
    parts.map(|part| usize::from(part.iter().map(|byte| u8::from(*byte == wanted)).sum::<u8>())).sum()
}

/// What takes the place of a head that is refused: its request line, for the log, if that can be read. The rest is gone, so
/// that nothing of it can have an effect.
pub fn stand_in(bytes: &[u8]) -> Vec<u8> {
    let line = bytes.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
    let whole = [line.trim_ascii_end(), b"\r\n\r\n"].concat();
    let mut request = Request::new(&mut []);
    let readable = request.parse(&whole).is_ok_and(|status| status.is_complete());
    match (request.method, request.path) {
        (Some(method), Some(target)) if readable && is_target(target) => format!("{method} {target} HTTP/1.1\r\n\r\n"),
        // Whoever asks with this method takes a body for the next answer.
        _ if line.starts_with(b"HEAD ") => "HEAD * HTTP/1.1\r\n\r\n".to_owned(),
        _ => "- * HTTP/1.1\r\n\r\n".to_owned(),
    }
    .into_bytes()
}

fn check(request: &Request<'_, '_>, head: &[u8]) -> Result<Length, Violation> {
    // Nothing but the end of a line has a CR or LF in a head that could be parsed.
    if count(head, b'\r') != count(head, b'\n') {
        return Err(Violation::LineEnd);
    }
    let target = request.path.unwrap_or_default();
    if target.len() > TARGET_BYTES_MAX {
        return Err(Violation::TargetTooLong);
    }
    if !is_target(target) {
        return Err(Violation::Target);
    }
    length(request)
}

/// What hyper takes for one. Most targets are plain, and only the others are parsed twice.
fn is_target(target: &str) -> bool {
    let plain = target.starts_with('/') && target.bytes().all(|byte| PLAIN[usize::from(byte)]);
    target.len() <= TARGET_BYTES_MAX && (plain || target.parse::<Uri>().is_ok())
}

fn length(request: &Request<'_, '_>) -> Result<Length, Violation> {
    let mut length = None;
    for Header { name, value } in &*request.headers {
        let announced = if name.eq_ignore_ascii_case("content-length") {
            Length::Known(number(value).ok_or(Violation::Length)?)
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            if request.version != Some(1) || !value.eq_ignore_ascii_case(b"chunked") {
                return Err(Violation::Coding);
            }
            Length::Chunked
        } else if name.len() > HEADER_NAME_BYTES_MAX {
            return Err(Violation::TooLarge);
        } else {
            continue;
        };
        if length.replace(announced).is_some() {
            return Err(Violation::TwoLengths);
        }
    }
    Ok(length.unwrap_or(Length::Known(0)))
}

fn number(digits: &[u8]) -> Option<u64> {
    let is_number = (1..=LENGTH_DIGITS_MAX).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    if is_number { std::str::from_utf8(digits).ok()?.parse().ok() } else { None }
}

/// Either the request line alone is too long, or all together.
fn too_large(bytes: &[u8], head_bytes_max: usize) -> Violation {
    let line = bytes[..bytes.len().min(head_bytes_max)].trim_ascii_start();
    if line.contains(&b'\n') { Violation::TooLarge } else { Violation::TargetTooLong }
}

fn unreadable(error: Error, request: &Request<'_, '_>, bytes: &[u8]) -> Violation {
    match error {
        Error::Token if bytes.starts_with(&[0x16, 0x03]) => Violation::Tls,
        Error::Token if request.method.is_none() => Violation::Method,
        Error::Token => Violation::Target,
        Error::Version | Error::Status => Violation::Version,
        Error::NewLine => Violation::LineEnd,
        Error::HeaderName => Violation::HeaderName,
        Error::HeaderValue => Violation::HeaderValue,
        Error::TooManyHeaders => Violation::TooManyHeaders,
    }
}
