//! Strong entity tags and `If-None-Match` (RFC 9110 §8.8.3, §13.1.2).

use gateway_http::body::Body;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};

/// Bytes of the hash in a tag: enough that nobody can construct two bodies with one tag.
const TAG_HASH_BYTES: usize = 20;

/// Headers of the full response that a 304 repeats (RFC 9110 §15.4.5), besides the tag.
const HEADERS_304: [HeaderName; 4] = [header::CACHE_CONTROL, header::CONTENT_LOCATION, header::EXPIRES, header::VARY];

/// The tag of these bytes: the same on every replica and after every restart.
pub(crate) fn of(body: &[u8]) -> HeaderValue {
    let mut tag = [b'"'; 2 * TAG_HASH_BYTES + 2];
    // Both are of the same length.
    let _ = hex::encode_to_slice(&blake3::hash(body).as_bytes()[..TAG_HASH_BYTES], &mut tag[1..=2 * TAG_HASH_BYTES]);
    HeaderValue::from_bytes(&tag).unwrap_or_else(|_never| HeaderValue::from_static("\"\""))
}

/// The tag as the client sent it, if it sent it: possibly in the weak form, which compressed responses carry. `lines`
/// are the values of `If-None-Match`.
pub(crate) fn known<'l>(lines: impl IntoIterator<Item = &'l HeaderValue>, tag: &HeaderValue) -> Option<HeaderValue> {
    lines.into_iter().find_map(|line| known_in(line.to_str().ok()?, tag))
}

fn known_in(line: &str, tag: &HeaderValue) -> Option<HeaderValue> {
    let wanted = tag.to_str().ok()?.trim_start_matches("W/");
    let mut rest = line.trim();
    if rest == "*" {
        return Some(tag.clone());
    }
    // A comma may stand inside the quotes: a tag ends at its second quote.
    while let Some((before, from_quote)) = rest.split_once('"') {
        let (opaque, after) = from_quote.split_once('"')?;
        if opaque == wanted.trim_matches('"') {
            let is_weak = before.ends_with("W/");
            return if is_weak { HeaderValue::try_from(format!("W/{wanted}")).ok() } else { Some(tag.clone()) };
        }
        rest = after;
    }
    None
}

/// The 304 for a client that has the response already; `headers` are those of the full response.
pub(crate) fn not_modified(tag: HeaderValue, headers: &HeaderMap, is_compressed_for_some: bool) -> Response<Body> {
    let mut response = Response::new(Body::Empty);
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    let kept = response.headers_mut();
    for name in HEADERS_304 {
        kept.extend(headers.get_all(&name).iter().map(|value| (name.clone(), value.clone())));
    }
    if is_compressed_for_some {
        kept.append(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
    kept.insert(header::ETAG, tag);
    response
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::the_tag(r#""a""#, Some(r#""a""#))]
    #[case::weak_comparison(r#"W/"a""#, Some(r#"W/"a""#))]
    #[case::a_list(r#""x", W/"y" ,"a""#, Some(r#""a""#))]
    #[case::without_spaces(r#""x",W/"a","z""#, Some(r#"W/"a""#))]
    #[case::anything("*", Some(r#""a""#))]
    #[case::another(r#""b""#, None)]
    #[case::a_part_of_it(r#""ab""#, None)]
    #[case::a_comma_inside(r#""x,"a",y""#, None)]
    #[case::no_quotes("a", None)]
    #[case::an_open_quote(r#""a"#, None)]
    #[case::nothing("", None)]
    #[case::a_star_in_a_list(r#"*, "b""#, None)]
    fn a_client_knows_an_answer_by_its_tag(#[case] sent: &str, #[case] known_as: Option<&str>) {
        let found = known(&[HeaderValue::from_str(sent).unwrap()], &HeaderValue::from_static(r#""a""#));
        assert_eq!(found.as_ref().map(|tag| tag.to_str().unwrap()), known_as);
    }

    #[test]
    fn the_header_may_come_in_several_lines() {
        let lines = [r#""x""#, r#""a""#].map(HeaderValue::from_static);
        assert!(known(&lines, &HeaderValue::from_static(r#""a""#)).is_some());
    }

    #[test]
    fn tags_follow_from_the_bytes_alone() {
        // The first bytes of BLAKE3("abc"), as its reference implementation gives it.
        assert_eq!(of(b"abc"), r#""6437b3ac38465133ffb63b75273a8db548c55846""#);
        assert_ne!(of(b"abc"), of(b"abd"));
    }
}
