//! Content types: as declared by the uploader, and as served.
//!
//! The rule: a browser that opens a payload never executes it. Types that it could treat as a page, a script or a drawing are
//! served as plain text, and types that are not known to be harmless as bytes.

use plugin_api::{
    extract::{FromRequest, Request},
    response::Problem,
};
use std::borrow::Cow;

const BYTES: &str = "application/octet-stream";
const PLAIN: &str = "text/plain; charset=utf-8";

/// Longer than any registered type.
const LENGTH_MAX: usize = 255;

/// The `Content-Type` of a request; `application/octet-stream` when it is missing.
pub struct ContentType(pub String);

impl FromRequest for ContentType {
    // Not described: OpenAPI documents content types with the body.
    fn from_request(request: &mut Request) -> Result<Self, Problem> {
        let named = request.header("content-type").map(str::trim);
        let named = named.filter(|named| (1..=LENGTH_MAX).contains(&named.len()));
        Ok(Self(named.unwrap_or(BYTES).to_owned()))
    }
}

/// Substrings of types that browsers execute, render or follow.
const ACTIVE: [&str; 8] = ["html", "xml", "xsl", "wap", "javascript", "ecmascript", "shockwave", "svg"];

const DATA: [&str; 4] = ["application/json", "application/x-ndjson", "application/pdf", BYTES];

const PICTURES: [&str; 6] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"];

/// The content type to serve for a payload that was stored as `named`.
pub fn served_as(named: &str) -> Cow<'static, str> {
    let first = named.split(',').next().unwrap_or_default();
    let mut parts = first.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default().to_ascii_lowercase();
    let Some((kind, subtype)) = media_type.split_once('/') else { return BYTES.into() };
    if !is_token(kind) || !is_token(subtype) {
        return BYTES.into();
    }
    if ACTIVE.iter().any(|part| media_type.contains(part)) {
        return PLAIN.into();
    }
    if PICTURES.contains(&media_type.as_str()) {
        return media_type.into();
    }
    if kind != "text" && !DATA.contains(&media_type.as_str()) {
        return BYTES.into();
    }
    match parts.find_map(charset) {
        Some(charset) => format!("{media_type}; charset={charset}").into(),
        None => media_type.into(),
    }
}

fn charset(parameter: &str) -> Option<String> {
    let (name, value) = parameter.split_once('=')?;
    let value = value.trim().trim_matches('"');
    (name.trim().eq_ignore_ascii_case("charset") && is_token(value)).then(|| value.to_ascii_lowercase())
}

/// A token of HTTP (RFC 9110 §5.6.2).
fn is_token(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_part)
}
