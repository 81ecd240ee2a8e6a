//! JSON that two parsers could read differently is refused, with its position.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

use super::super::canonical::rfc8785;
use super::super::strict_json::{Position, StrictJsonError, parse, parse_body, parse_document};
use super::wallet::any_json;

fn at(line: usize, column: usize) -> Position {
    Position { line, column }
}

fn refusal(body: &[u8]) -> StrictJsonError {
    let error = parse(body).expect_err("must be refused");
    assert!(!error.hint().is_empty());
    error
}

#[rstest]
#[case::nothing(b"", StrictJsonError::Empty)]
#[case::white_space(b" \r\n\t", StrictJsonError::Empty)]
#[case::byte_order_mark(b"\xEF\xBB\xBF{}", StrictJsonError::ByteOrderMark)]
#[case::latin_1(b"{\"a\":\"\xE9\"}", StrictJsonError::NotUtf8 { offset: 6 })]
#[case::utf8_surrogate(b"\"\xED\xA0\x80\"", StrictJsonError::NotUtf8 { offset: 1 })]
#[case::utf16(b"{\0}\0", StrictJsonError::Syntax { reason: "key must be a string".into(), position: at(1, 2) })]
#[case::two_values(b"{} {}", StrictJsonError::TrailingText { position: at(1, 4) })]
#[case::trailing_nul(b"{}\0", StrictJsonError::TrailingText { position: at(1, 3) })]
#[case::huge_number(b"[1e400]", StrictJsonError::NumberTooLarge { position: at(1, 6) })]
#[case::hugest_negative(b"[-1e309]", StrictJsonError::NumberTooLarge { position: at(1, 7) })]
fn bytes_and_grammar(#[case] body: &[u8], #[case] expected: StrictJsonError) {
    assert_eq!(refusal(body), expected);
}

#[rstest]
#[case("{\"a\":1,}")]
#[case("{'a':1}")]
#[case("{a:1}")]
#[case("[1,]")]
#[case("[01]")]
#[case("[+1]")]
#[case("[.5]")]
#[case("[1.]")]
#[case("[0x10]")]
#[case("[NaN]")]
#[case("[Infinity]")]
#[case("[undefined]")]
#[case("[1] // why")]
#[case("\"line\nfeed\"")]
#[case("\"\\x41\"")]
#[case("\"\\u12\"")]
#[case("{\"a\"")]
#[case("[[[")]
fn what_other_parsers_tolerate(#[case] text: &str) {
    let error = refusal(text.as_bytes());
    assert!(
        matches!(error, StrictJsonError::Syntax { .. } | StrictJsonError::TrailingText { .. }),
        "{text}: {error:?}"
    );
    assert!(error.to_string().contains("line "), "{error}");
}

#[rstest]
#[case(r#"{"a":"\ud800"}"#)]
#[case(r#"{"a":"\udc00"}"#)]
#[case(r#"{"a":"\ud83dx"}"#)]
#[case(r#"{"a":"\ud83d\n"}"#)]
#[case(r#"{"a":"\ud83d\u0041"}"#)]
#[case(r#"{"a":"\ud83d\ud83d"}"#)]
#[case(r#"{"a":"\ude00\ud83d"}"#)]
#[case(r#"{"\ud800":1}"#)]
fn lone_surrogates(#[case] text: &str) {
    assert!(
        matches!(refusal(text.as_bytes()), StrictJsonError::LoneSurrogate { .. }),
        "{:?}",
        refusal(text.as_bytes())
    );
}

#[rstest]
#[case(r#"{"a":1,"a":1}"#, "$.a")]
#[case(r#"{"a":1,"\u0061":2}"#, "$.a")]
#[case(r#"{"x":{"y":[0,{"k":1,"k":2}]}}"#, "$.x.y[1].k")]
#[case(r#"{"":1,"":2}"#, r#"$[""]"#)]
#[case(r#"{"a b":{"ü":1,"ü":2}}"#, r#"$["a b"]["ü"]"#)]
#[case(r#"{"sig":"0x","b":1,"sig":"0x"}"#, "$.sig")]
fn duplicate_keys(#[case] text: &str, #[case] path: &str) {
    assert_eq!(refusal(text.as_bytes()), StrictJsonError::DuplicateKey { path: path.into() });
}

#[rstest]
#[case(r#"{"a":"x\u0000"}"#, "$.a")]
#[case(r#"{"a":["","\u0000"]}"#, "$.a[1]")]
#[case(r#"{"a":{"b\u0000c":1}}"#, r#"$.a["b\0c"]"#)]
fn nul_characters(#[case] text: &str, #[case] path: &str) {
    assert_eq!(refusal(text.as_bytes()), StrictJsonError::NulCharacter { path: path.into() });
}

#[test]
fn long_paths_are_truncated() {
    let key = "k".repeat(100_000);
    let StrictJsonError::DuplicateKey { path } = refusal(format!(r#"{{"{key}":1,"{key}":2}}"#).as_bytes()) else {
        panic!("another error")
    };
    assert!(path.len() < 200, "{}", path.len());
}

#[rstest]
#[case("9007199254740993")]
#[case("-9007199254740993")]
#[case("18446744073709551615")]
#[case("18446744073709551617")]
#[case("1000000000000000000001")]
#[case("100000000000000000000000")]
#[case("-9223372036854775809")]
fn integers_that_a_double_changes(#[case] literal: &str) {
    let text = format!("{{\"text\": \"\\\"9007199254740993\",\n \"n\": [1, {literal}]}}");
    assert_eq!(
        refusal(text.as_bytes()),
        StrictJsonError::InexactInteger { literal: literal.into(), position: at(2, 11) }
    );
    assert_eq!(refusal(text.as_bytes()).hint(), "send large numbers as strings");
}

#[rstest]
#[case("9007199254740991")]
#[case("9007199254740992")]
#[case("-9007199254740992")]
#[case("9007199254740994")]
#[case("18446744073709551616")]
// What JavaScript prints for 2^64 and for 1e20.
#[case("18446744073709552000")]
#[case("100000000000000000000")]
#[case("1e21")]
#[case("1e23")]
#[case("1.5e300")]
#[case("0.1")]
#[case("123456789012345678901234567890.5")]
fn numbers_that_pass(#[case] literal: &str) {
    parse(literal.as_bytes()).unwrap();
    parse(format!("{{\"a\":[{literal}]}}").as_bytes()).unwrap();
}

#[test]
fn a_long_integer_is_truncated_in_the_error() {
    let literal = format!("1{}1", "0".repeat(280));
    let StrictJsonError::InexactInteger { literal, .. } = refusal(literal.as_bytes()) else { panic!("another error") };
    assert!(literal.chars().count() <= 41, "{literal}");
}

#[test]
fn integral_numbers_become_integers() {
    for text in ["7", "7.0", "70e-1", "0.7e1"] {
        assert_eq!(parse(text.as_bytes()).unwrap(), json!(7), "{text}");
    }
    for text in ["-0", "-0.0", "0.0", "-0e5"] {
        assert_eq!(parse(text.as_bytes()).unwrap(), json!(0), "{text}");
    }
    assert_eq!(parse(b"-3.0").unwrap(), json!(-3));
    assert_eq!(parse(b"[9007199254740992.0]").unwrap(), json!([9_007_199_254_740_992_u64]));
    assert_eq!(parse(b"0.5").unwrap(), json!(0.5));
}

#[test]
fn depth_has_a_limit() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    parse(nested(127).as_bytes()).unwrap();
    assert!(matches!(refusal(nested(128).as_bytes()), StrictJsonError::TooDeep { .. }));
    assert!(matches!(refusal("[".repeat(100_000).as_bytes()), StrictJsonError::TooDeep { .. }));
    let objects = format!("{}1{}", r#"{"a":"#.repeat(128), "}".repeat(128));
    assert!(matches!(refusal(objects.as_bytes()), StrictJsonError::TooDeep { .. }));
}

#[rstest]
#[case("null", "null")]
#[case("true", "a boolean")]
#[case("1", "a number")]
#[case("\"{}\"", "a string")]
#[case("[{}]", "an array")]
fn a_body_must_be_an_object(#[case] text: &str, #[case] found: &'static str) {
    assert_eq!(parse_body(text.as_bytes()).unwrap_err(), StrictJsonError::NotAnObject { found });
}

#[test]
fn the_envelope_is_no_part_of_the_document() {
    let (document, envelope) =
        parse_body(br#"{"ts":1.0,"b":{"ts":2,"sig":3},"sig":"0x","a":[{"address":4}],"address":"\u0030x"}"#).unwrap();
    assert_eq!(document.text(), r#"{"a":[{"address":4}],"b":{"sig":3,"ts":2}}"#);
    assert_eq!((envelope.address, envelope.ts, envelope.sig), (Some(json!("0x")), Some(json!(1)), Some(json!("0x"))));
    let (document, envelope) = parse_body(br#"{"sig":{"b":1,"a":null}}"#).unwrap();
    assert_eq!((document.text(), document.is_empty()), ("{}", true));
    assert_eq!(envelope.sig, Some(json!({"a": null, "b": 1})));
}

#[test]
fn members_are_found_wherever_they_stand() {
    for text in [r#"{"b":[1,{"z":2}],"a":"x","\"\u00fc":1.50}"#, r#"{"\"ü":1.5,"a":"x","b":[1,{"z":2}]}"#] {
        let document = parse_document(text.as_bytes()).unwrap();
        assert_eq!(document.member("a"), Some(json!("x")), "{text}");
        assert_eq!(document.member("b"), Some(json!([1, {"z": 2}])));
        assert_eq!(document.member("\"ü"), Some(json!(1.5)));
        assert_eq!((document.member("z"), document.member("")), (None, None), "of the outermost object only");
    }
}

/// Beyond a few keys they are no longer compared one by one.
#[rstest]
fn a_duplicate_among_many_keys_is_found(#[values(1, 15, 16, 17, 100)] others: usize) {
    let members: String = (0..others).map(|number| format!("\"k{number}\":{number},")).collect();
    for first in [0, others - 1] {
        let text = format!("{{{members}\"k{first}\":true}}");
        assert_eq!(refusal(text.as_bytes()), StrictJsonError::DuplicateKey { path: format!("$.k{first}") });
    }
    let signed = format!("{{\"sig\":1,{members}\"sig\":2}}");
    assert_eq!(parse_body(signed.as_bytes()).unwrap_err(), StrictJsonError::DuplicateKey { path: "$.sig".into() });
}

proptest! {
    /// Valid JSON gives the same value as serde_json does.
    #[test]
    fn reads_what_serde_json_reads(value in any_json()) {
        let text = serde_json::to_string(&value).unwrap();
        let ours = parse_document(text.as_bytes()).unwrap();
        prop_assert_eq!(ours.text(), rfc8785(&value).unwrap());
    }

    #[test]
    fn never_panics(body in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = parse(&body);
    }

    #[test]
    fn never_panics_on_almost_json(text in r#"[\[\]{}",:0-9eE.\\u d8-]{0,40}"#) {
        let _ = parse(text.as_bytes());
    }

    /// Every integer that is accepted has the same double in every parser.
    #[test]
    fn integers_that_pass_keep_their_text_or_value(digits in "[1-9][0-9]{0,24}") {
        if let Ok(value) = parse(digits.as_bytes()) {
            let canonical = rfc8785(&value).unwrap();
            let double: f64 = digits.parse().unwrap();
            prop_assert!(canonical == digits || format!("{double:.0}") == digits, "{} became {}", digits, canonical);
        }
    }
}
