//! Signed headers and signed queries: where the envelope may be, and which texts may have been hashed.

use http::{HeaderMap, HeaderName, HeaderValue};
use rstest::rstest;
use serde_json::{Value, json};

use super::super::{Brand, EnvelopeError, SignedRequest, verify_signed_headers, verify_signed_query};
use super::wallet::{NOW_S, Wallet, payload};

const ACTION: &str = "memory.delete";

struct Request {
    headers: HeaderMap,
    query: String,
    body: Vec<u8>,
}

/// Signs `body_text`, and returns the envelope without a request.
struct Parts {
    address: String,
    ts: String,
    sig: String,
}

fn parts(body_text: &str) -> Parts {
    let wallet = Wallet::new(9);
    Parts {
        address: wallet.address.to_string(),
        ts: NOW_S.to_string(),
        sig: wallet.sign(&Brand::default(), ACTION, NOW_S, body_text),
    }
}

impl Parts {
    fn headers(&self) -> HeaderMap {
        HeaderMap::from_iter(
            [("x-service-address", &self.address), ("x-service-ts", &self.ts), ("x-service-sig", &self.sig)]
                .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())),
        )
    }

    fn query(&self) -> String {
        format!("address={}&ts={}&sig={}", self.address, self.ts, self.sig)
    }
}

impl Request {
    fn new(headers: HeaderMap, query: &str, body: &str) -> Self {
        Self { headers, query: query.to_owned(), body: body.as_bytes().to_vec() }
    }

    fn verify(&self) -> Result<SignedRequest, EnvelopeError> {
        verify_signed_headers(&Brand::default(), ACTION, &self.headers, Some(&self.query), &self.body, NOW_S)
    }

    fn code(&self) -> Option<&'static str> {
        self.verify().expect_err("must be refused").code()
    }
}

#[rstest]
#[case::specification("")]
#[case::clients("{}")]
fn a_read_signs_nothing_or_an_empty_object(#[case] body_text: &str) {
    let parts = parts(body_text);
    for request in [
        Request::new(parts.headers(), "", ""),
        Request::new(HeaderMap::new(), &parts.query(), ""),
        Request::new(parts.headers(), "", "{}"),
    ] {
        let signed = request.verify().unwrap();
        assert_eq!(signed.signer, Wallet::new(9).address);
        assert_eq!(signed.canonical(), body_text);
        assert_eq!(payload(&signed), json!({}));
    }
}

#[test]
fn the_body_may_carry_the_envelope_and_the_payload() {
    let parts = parts(r#"{"key":"notes"}"#);
    let body = json!({"key": "notes", "address": parts.address, "ts": NOW_S, "sig": parts.sig}).to_string();
    let signed = Request::new(HeaderMap::new(), "", &body).verify().unwrap();
    assert_eq!(payload(&signed), json!({"key": "notes"}));
    assert_eq!(signed.canonical(), r#"{"key":"notes"}"#);
}

#[test]
fn a_body_of_only_the_envelope_is_an_empty_payload() {
    let parts = parts("{}");
    let body = json!({"address": parts.address, "ts": NOW_S, "sig": parts.sig}).to_string();
    assert_eq!(Request::new(HeaderMap::new(), "", &body).verify().map(|signed| payload(&signed)).unwrap(), json!({}));
}

/// The SDK's form of a delete: envelope in headers and body, the payload signed.
#[test]
fn headers_and_a_signed_body_go_together() {
    let parts = parts(r#"{"key":"notes"}"#);
    let body = json!({"key": "notes", "address": parts.address, "ts": NOW_S, "sig": parts.sig}).to_string();
    for body in [r#"{"key":"notes"}"#, &body] {
        let signed = Request::new(parts.headers(), "", body).verify().unwrap();
        assert_eq!(payload(&signed), json!({"key": "notes"}));
        assert!(signed.check_target("key", "notes").is_ok());
    }
}

#[test]
fn an_unsigned_body_is_no_payload() {
    for body_text in ["", "{}"] {
        let signed = Request::new(parts(body_text).headers(), "", r#"{"key":"notes","all":true}"#).verify().unwrap();
        assert_eq!(payload(&signed), json!({}));
        assert_eq!(signed.canonical(), body_text);
        assert!(signed.check_target("key", "notes").is_ok());
        assert!(signed.check_target("key", "other").is_err());
    }
}

#[test]
fn an_index_like_key_may_be_signed_in_either_order() {
    for body_text in [r#"{"10":1,"9":2}"#, r#"{"9":2,"10":1}"#] {
        let signed = Request::new(parts(body_text).headers(), "", r#"{"10":1,"9":2}"#).verify().unwrap();
        assert_eq!(signed.canonical(), body_text);
        assert_eq!(payload(&signed), json!({"10": 1, "9": 2}));
    }
}

#[test]
fn each_field_is_taken_from_the_first_place_that_has_it() {
    let good = parts("");
    let mut headers = good.headers();
    headers.remove("x-service-ts");
    assert!(Request::new(headers.clone(), &format!("ts={}&limit=3", good.ts), "").verify().is_ok());
    let in_body = json!({"ts": NOW_S, "address": "nonsense", "sig": "nonsense"}).to_string();
    assert!(Request::new(headers.clone(), "", &in_body).verify().is_ok());
    assert_eq!(Request::new(headers, "ts=1", &in_body).code(), Some("stale_ts"));
    assert_eq!(
        Request::new(good.headers(), "", r#"{"sig":"nonsense"}"#).verify().map(|signed| payload(&signed)).unwrap(),
        json!({})
    );
    let bad_query = "address=0x0&ts=1&sig=0x";
    assert!(Request::new(good.headers(), bad_query, "").verify().is_ok());
}

#[test]
fn empty_values_are_absent() {
    let good = parts("");
    let mut headers = good.headers();
    headers.insert("x-service-sig", HeaderValue::from_static(""));
    assert!(Request::new(headers.clone(), &good.query(), "").verify().is_ok());
    assert_eq!(Request::new(headers, "sig=", "").code(), Some("bad_sig"));
}

#[rstest]
#[case("address", "bad_address")]
#[case("ts", "bad_ts")]
#[case("sig", "bad_sig")]
fn missing_duplicate_and_invalid_fields(#[case] field: &str, #[case] code: &str) {
    let good = parts("");
    let header = HeaderName::try_from(format!("x-service-{field}")).unwrap();

    let mut missing = good.headers();
    missing.remove(&header);
    assert_eq!(Request::new(missing, "", "").code(), Some(code));

    let mut doubled = good.headers();
    doubled.append(&header, good.headers()[&header].clone());
    let refusal = Request::new(doubled, "", "").verify().unwrap_err();
    assert_eq!(refusal.code(), Some(code));
    assert!(refusal.to_string().contains("twice"), "{refusal}");

    let mut odd = good.headers();
    odd.insert(&header, HeaderValue::from_bytes(b"\xE9").unwrap());
    assert_eq!(Request::new(odd, "", "").code(), Some(code));

    let query = format!("{}&{field}=1", good.query());
    assert_eq!(Request::new(HeaderMap::new(), &query, "").code(), Some(code));
}

#[test]
fn a_request_without_an_envelope_lacks_a_signature() {
    let refusal = Request::new(HeaderMap::new(), "", "").verify().unwrap_err();
    assert_eq!((refusal.status().as_u16(), refusal.code()), (401, Some("bad_sig")));
    let refusal = verify_signed_query(&Brand::default(), "inbox.read", "limit=5", NOW_S).unwrap_err();
    assert_eq!((refusal.status().as_u16(), refusal.code()), (401, Some("bad_sig")));
}

#[test]
fn another_hash_is_a_mismatch() {
    assert_eq!(Request::new(parts("null").headers(), "", "").code(), Some("sig_mismatch"));
    assert_eq!(Request::new(parts(r#"{"key":"a"}"#).headers(), "", "").code(), Some("sig_mismatch"));
    assert_eq!(Request::new(parts(r#"{"key":"a"}"#).headers(), "", r#"{"key":"b"}"#).code(), Some("sig_mismatch"));
}

/// Only a mismatch leads to the next text; a signature that no key can have made does not.
#[test]
fn other_errors_end_the_search() {
    let mut bad = parts("");
    bad.sig = format!("0x{:064x}{:064x}1b", 5, 1);
    assert_eq!(Request::new(bad.headers(), "", r#"{"key":"a"}"#).code(), Some("bad_sig"));
}

#[test]
fn unreadable_bodies_are_400() {
    for body in ["[]", "nonsense", r#"{"a":1,"a":2}"#] {
        let refusal = Request::new(parts("").headers(), "", body).verify().unwrap_err();
        assert_eq!((refusal.status().as_u16(), refusal.code()), (400, None), "{body}");
    }
}

#[rstest]
#[case(json!({}), true)]
#[case(json!({"id": 7}), true)]
#[case(json!({"id": 7.0}), true)]
#[case(json!({"id": "7"}), true)]
#[case(json!({"key": 8}), true)]
#[case(json!({"id": 8}), false)]
#[case(json!({"id": "07"}), false)]
#[case(json!({"id": ""}), false)]
#[case(json!({"id": null}), false)]
#[case(json!({"id": [7]}), false)]
fn the_body_must_name_the_target_of_the_url(#[case] body: Value, #[case] agrees: bool) {
    let signed_text = super::super::canonical::rfc8785(&body).unwrap();
    let signed = Request::new(parts(&signed_text).headers(), "", &body.to_string()).verify().unwrap();
    match signed.check_target("id", "7") {
        Ok(()) => assert!(agrees),
        Err(refusal) => {
            assert!(!agrees);
            assert_eq!((refusal.status().as_u16(), refusal.code()), (400, Some("bad_sig")));
        }
    }
}

#[test]
fn header_names_follow_the_brand() {
    let brand = Brand::new("Acme Commons", "X-Acme").unwrap();
    let wallet = Wallet::new(9);
    let mut headers = HeaderMap::new();
    headers.insert("x-acme-address", wallet.address.to_string().parse().unwrap());
    headers.insert("x-acme-ts", NOW_S.to_string().parse().unwrap());
    headers.insert("x-acme-sig", wallet.sign(&brand, ACTION, NOW_S, "").parse().unwrap());
    assert!(verify_signed_headers(&brand, ACTION, &headers, None, b"", NOW_S).is_ok());
    assert!(verify_signed_headers(&Brand::default(), ACTION, &headers, None, b"", NOW_S).is_err());
}

fn inbox_query(body_text: &str) -> String {
    let wallet = Wallet::new(9);
    let sig = wallet.sign(&Brand::default(), "inbox.read", NOW_S, body_text);
    format!("limit=5&sig={sig}&ts={NOW_S}&address={}", wallet.address)
}

#[test]
fn the_query_signs_an_empty_object_and_nothing_else() {
    let open = |query: &str| verify_signed_query(&Brand::default(), "inbox.read", query, NOW_S);
    let signed = open(&inbox_query("{}")).unwrap();
    assert_eq!(payload(&signed), json!({}));
    assert_eq!(signed.canonical(), "{}");
    assert!(open(&inbox_query("{}").replace("0x", "%30x")).is_ok());
    assert_eq!(open(&inbox_query("")).unwrap_err().code(), Some("sig_mismatch"));
    assert_eq!(open(&inbox_query(r#"{"limit":5}"#)).unwrap_err().code(), Some("sig_mismatch"));
    assert_eq!(open(&inbox_query("{}").replace("address=", "a=")).unwrap_err().code(), Some("bad_address"));
    assert_eq!(open(&inbox_query("{}").replace("ts=", "t=")).unwrap_err().code(), Some("bad_ts"));
}
