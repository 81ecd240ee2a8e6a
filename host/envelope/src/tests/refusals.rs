//! Every error of a signed body: status, code, and the order of the checks.

use rstest::rstest;
use serde_json::{Map, Value, json};

use super::super::{Brand, EnvelopeError, verify_signed_body};
use super::wallet::{ACTION, NOW_S, Wallet, payload, to_bytes};

fn good() -> Map<String, Value> {
    Wallet::new(3).body(&json!({"title": "On trust", "tags": ["a", "b"], "deep": {"ts": 1, "sig": 2, "address": 3}}))
}

fn refuse(body: &[u8]) -> EnvelopeError {
    let refusal = verify_signed_body(&Brand::default(), ACTION, body, NOW_S).expect_err("must be refused");
    assert!(!refusal.hint().is_empty() && !refusal.to_string().is_empty());
    refusal
}

fn status_and_code(body: &[u8]) -> (u16, Option<&'static str>) {
    let refusal = refuse(body);
    (refusal.status().as_u16(), refusal.code())
}

fn with(field: &str, value: Value) -> Vec<u8> {
    let mut body = good();
    body.insert(field.into(), value);
    to_bytes(&body)
}

fn without(field: &str) -> Vec<u8> {
    let mut body = good();
    body.shift_remove(field);
    to_bytes(&body)
}

#[test]
fn a_valid_request_passes() {
    let signed = verify_signed_body(&Brand::default(), ACTION, &to_bytes(&good()), NOW_S).unwrap();
    assert_eq!(
        payload(&signed),
        json!({"title": "On trust", "tags": ["a", "b"], "deep": {"ts": 1, "sig": 2, "address": 3}})
    );
}

#[rstest]
#[case(b"")]
#[case(b"  ")]
#[case(b"not json")]
#[case(b"[]")]
#[case(b"null")]
#[case(b"\"text\"")]
#[case(b"{\"a\":1,\"a\":1}")]
#[case(b"{\"a\":\"\\ud800\"}")]
#[case(b"{\"a\":\"\\u0000\"}")]
#[case(b"{\"a\":9007199254740993}")]
#[case(b"{\"a\":1e400}")]
#[case(b"\xEF\xBB\xBF{}")]
#[case(b"{\"a\":\"\xFF\"}")]
fn unreadable_bodies_are_400_without_a_code(#[case] body: &[u8]) {
    assert_eq!(status_and_code(body), (400, None));
}

#[rstest]
#[case(json!(""))]
#[case(json!("0x"))]
#[case(json!("alice.eth"))]
#[case(json!("0X1234567890123456789012345678901234567890"))]
#[case(json!("1234567890123456789012345678901234567890"))]
#[case(json!("0x123456789012345678901234567890123456789"))]
#[case(json!("0x12345678901234567890123456789012345678901"))]
#[case(json!("0x123456789012345678901234567890123456789g"))]
#[case(json!("0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"))]
#[case(json!(7))]
#[case(json!(null))]
#[case(json!(["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"]))]
fn bad_address(#[case] address: Value) {
    assert_eq!(status_and_code(&with("address", address)), (401, Some("bad_address")));
}

#[rstest]
#[case(json!(1_760_000_000.5))]
#[case(json!(-1))]
#[case(json!(1e300))]
#[case(json!(9_007_199_254_740_992_u64))]
#[case(json!("99999999999999999999999"))]
#[case(json!(""))]
#[case(json!("now"))]
#[case(json!("-1760000000"))]
#[case(json!("+1760000000"))]
#[case(json!("1760000000.0"))]
#[case(json!("1.76e9"))]
#[case(json!("0x68e77100"))]
#[case(json!(" 1760000000"))]
#[case(json!("１７６０００００００"))]
#[case(json!(true))]
#[case(json!(null))]
#[case(json!({}))]
fn bad_ts(#[case] ts: Value) {
    assert_eq!(status_and_code(&with("ts", ts)), (401, Some("bad_ts")));
}

#[rstest]
#[case(json!(NOW_S - 301))]
#[case(json!(NOW_S + 301))]
#[case(json!((NOW_S - 301).to_string()))]
#[case(json!(0))]
#[case(json!(9_007_199_254_740_991_u64))]
fn stale_ts(#[case] ts: Value) {
    assert_eq!(status_and_code(&with("ts", ts)), (401, Some("stale_ts")));
}

#[test]
fn the_window_includes_its_edges() {
    let body = to_bytes(&good());
    for now_s in [NOW_S - 300, NOW_S, NOW_S + 300] {
        assert!(verify_signed_body(&Brand::default(), ACTION, &body, now_s).is_ok(), "{now_s}");
    }
    for now_s in [0, NOW_S - 301, NOW_S + 301, u64::MAX] {
        let refusal = verify_signed_body(&Brand::default(), ACTION, &body, now_s).unwrap_err();
        assert_eq!(refusal.code(), Some("stale_ts"), "{now_s}");
    }
}

#[test]
fn ts_may_be_a_string_of_digits() {
    assert!(verify_signed_body(&Brand::default(), ACTION, &with("ts", json!(NOW_S.to_string())), NOW_S).is_ok());
}

#[test]
fn an_integer_may_be_written_with_a_fraction_of_zero() {
    let text = String::from_utf8(to_bytes(&good())).unwrap().replace("1760000000", "1760000000.0");
    assert!(verify_signed_body(&Brand::default(), ACTION, text.as_bytes(), NOW_S).is_ok());
}

#[test]
fn milliseconds_are_recognised() {
    let refusal = refuse(&with("ts", json!(NOW_S * 1000)));
    assert_eq!(refusal.code(), Some("stale_ts"));
    assert!(refusal.hint().contains("milliseconds"), "{}", refusal.hint());
}

fn sig_ending_in(tail: &str) -> Value {
    let body = good();
    let sig = body["sig"].as_str().unwrap();
    json!(format!("{}{tail}", &sig[..sig.len() - 2]))
}

fn sig_with_scalar(range: std::ops::Range<usize>, scalar: &str) -> Value {
    let body = good();
    let mut sig = body["sig"].as_str().unwrap().to_owned();
    sig.replace_range(range, scalar);
    json!(sig)
}

#[rstest]
#[case(json!(""))]
#[case(json!("0x"))]
#[case(json!(1))]
#[case(json!(null))]
#[case(sig_ending_in(""))]
#[case(sig_ending_in("1b00"))]
#[case(sig_ending_in("zz"))]
#[case(sig_ending_in("02"))]
#[case(sig_ending_in("1a"))]
#[case(sig_ending_in("1d"))]
#[case(sig_ending_in("25"))]
#[case(sig_ending_in("ff"))]
#[case::r_zero(sig_with_scalar(2..66, &"0".repeat(64)))]
#[case::s_zero(sig_with_scalar(66..130, &"0".repeat(64)))]
#[case::r_large(sig_with_scalar(2..66, &"f".repeat(64)))]
#[case::s_large(sig_with_scalar(66..130, &"f".repeat(64)))]
#[case::no_such_point(sig_with_scalar(2..66, &format!("{:064x}", 5)))]
fn bad_sig(#[case] sig: Value) {
    assert_eq!(status_and_code(&with("sig", sig)), (401, Some("bad_sig")));
}

#[rstest]
#[case("title", json!("On Trust"))]
#[case("tags", json!(["b", "a"]))]
#[case("deep", json!({"ts": 1, "sig": 2}))]
#[case("extra", json!(1))]
#[case("__proto__", json!({}))]
#[case("Address", json!("0x"))]
#[case("address", json!(Wallet::new(4).address.to_string()))]
#[case("ts", json!(NOW_S + 1))]
fn sig_mismatch(#[case] field: &str, #[case] value: Value) {
    assert_eq!(status_and_code(&with(field, value)), (401, Some("sig_mismatch")));
}

#[rstest]
#[case("address", "bad_address")]
#[case("ts", "bad_ts")]
#[case("sig", "bad_sig")]
#[case("title", "sig_mismatch")]
fn missing_fields(#[case] field: &str, #[case] code: &str) {
    assert_eq!(status_and_code(&without(field)), (401, Some(code)));
}

/// Each case also has the errors of all later ones.
#[test]
fn checks_come_in_the_order_of_the_wire() {
    let mut body = good();
    body.insert("title".into(), json!("tampered"));
    let mut codes = vec![status_and_code(&to_bytes(&body)).1.unwrap()];
    for (field, value) in
        [("sig", json!("0x00")), ("ts", json!(NOW_S - 1000)), ("ts", json!("x")), ("address", json!("0x0"))]
    {
        body.insert(field.into(), value);
        codes.push(status_and_code(&to_bytes(&body)).1.unwrap());
    }
    assert_eq!(codes, ["sig_mismatch", "bad_sig", "stale_ts", "bad_ts", "bad_address"]);
    assert_eq!(status_and_code(b"{\"address\":1,\"x\":1e999}"), (400, None));
}

#[test]
fn a_mismatch_shows_what_to_sign() {
    let EnvelopeError::Mismatch(mismatch) = refuse(&with("title", json!("tampered"))) else {
        panic!("another refusal")
    };
    let expected = r#"{"deep":{"address":3,"sig":2,"ts":1},"tags":["a","b"],"title":"tampered"}"#;
    assert_eq!(mismatch.expected_body, expected);
    assert!(mismatch.expected_message.starts_with("Service Commons\naction: post.create\naddress: 0x"));
    let hint = EnvelopeError::Mismatch(mismatch).hint();
    assert!(hint.contains("Service Commons\\naction: post.create") && hint.contains(expected), "{hint}");
}

#[test]
fn hints_stay_short() {
    let hint = refuse(&with("title", json!("ü".repeat(100_000)))).hint();
    assert!(hint.len() < 1000, "{}", hint.len());
}

#[test]
fn a_wrong_checksum_shows_the_right_one() {
    let refusal = refuse(&with("address", json!("0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")));
    assert!(refusal.hint().contains("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"), "{}", refusal.hint());
}
