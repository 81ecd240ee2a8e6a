//! The header `traceparent` of W3C Trace Context. Rule: what is not exactly as the standard says is taken for no header at all.

use http::{HeaderMap, HeaderName, HeaderValue};
use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};

pub const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Version, trace id, parent id and flags, with a dash between each two.
const LENGTH: usize = 55;

/// The span that the client names, if its only header is valid. Its flag `sampled` is read, other flags are not.
pub(crate) fn read(headers: &HeaderMap) -> Option<SpanContext> {
    let mut sent = headers.get_all(TRACEPARENT).iter();
    let (Some(value), None) = (sent.next(), sent.next()) else { return None };
    parse(value.to_str().ok()?)
}

fn parse(text: &str) -> Option<SpanContext> {
    let (known, rest) = text.split_at_checked(LENGTH)?;
    let mut fields = known.split('-');
    let mut next = |length: usize| fields.next().filter(|field| field.len() == length && is_lower_hex(field));
    let (version, trace_id, span_id, flags) = (next(2)?, next(32)?, next(16)?, next(2)?);
    // A later version may add fields behind a dash; 255 is none.
    let is_version = match version {
        "00" => rest.is_empty(),
        "ff" => false,
        _ => rest.is_empty() || rest.starts_with('-'),
    };
    let trace_id = TraceId::from_hex(trace_id).ok()?;
    let span_id = SpanId::from_hex(span_id).ok()?;
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()?) & TraceFlags::SAMPLED;
    let context = SpanContext::new(trace_id, span_id, flags, true, TraceState::NONE);
    (is_version && context.is_valid()).then_some(context)
}

fn is_lower_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// For a request of the gateway.
pub(crate) fn write(context: &SpanContext) -> Option<HeaderValue> {
    let flags = context.trace_flags() & TraceFlags::SAMPLED;
    let text = format!("00-{}-{}-{flags:02x}", context.trace_id(), context.span_id());
    context.is_valid().then(|| HeaderValue::try_from(text).ok()).flatten()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_valid_header_comes_back_as_it_was() {
        for (text, written) in [
            (VALID.to_owned(), VALID.to_owned()),
            (VALID.replace("-01", "-00"), VALID.replace("-01", "-00")),
            // Flags that nobody knows are not passed on.
            (VALID.replace("-01", "-ff"), VALID.to_owned()),
            (VALID.replace("00-4b", "cc-4b"), VALID.to_owned()),
            (VALID.replace("00-4b", "01-4b") + "-what-comes-later", VALID.to_owned()),
        ] {
            let context = parse(&text).unwrap_or_else(|| panic!("{text}"));
            assert!(context.is_remote());
            assert_eq!(write(&context).unwrap(), written, "{text}");
        }
    }

    #[test]
    fn anything_else_is_ignored() {
        let longer = [VALID, "-"].concat();
        let cases = [
            "",
            "00",
            &VALID[..54],
            &longer,
            &VALID.replace("00-4b", "ff-4b"),
            &VALID.to_uppercase(),
            &VALID.replace("4bf92f3577b34da6a3ce929d0e0e4736", "00000000000000000000000000000000"),
            &VALID.replace("00f067aa0ba902b7", "0000000000000000"),
            &VALID.replace('-', "_"),
            // Rust's own parser of numbers takes a sign.
            &VALID.replace("4bf92", "+bf92"),
            &VALID.replace("-01", "-0x"),
            &VALID.replace("00-4b", "01-4b").replace("-01", "-01x"),
            &VALID.replacen("4bf92f3577b34da6a3ce929d0e0e4736-", "4bf92f3577b34da6a3ce929d0e0e473-6", 1),
            &VALID.replace("4b", "é"),
        ];
        for text in cases {
            assert!(parse(text).is_none(), "{text}");
        }
        assert!(write(&SpanContext::NONE).is_none());
    }

    #[test]
    fn two_headers_are_none() {
        let mut headers = HeaderMap::new();
        headers.append(TRACEPARENT, HeaderValue::from_static(VALID));
        assert!(read(&headers).is_some());
        headers.append(TRACEPARENT, HeaderValue::from_static(VALID));
        assert!(read(&headers).is_none());
    }
}
