//! Signed requests with changes: those that still pass are signed by the same wallet over the same text.

use crate::{Brand, SignedRequest, verify_signed_body, verify_signed_headers, verify_signed_query};
use gateway_fuzz_seeds::Seeds;
use http::{HeaderMap, HeaderName, HeaderValue};

const WORDS: &[&str] = &[
    "\"address\":",
    "\"ts\":",
    "\"sig\":",
    "address=",
    "&ts=",
    "&sig=",
    "%30",
    "+",
    "&",
    "=",
    "0x",
    "0X",
    "00",
    "1b",
    "1c",
    "null",
    "\"\"",
    "{}",
    "[]",
    ",",
    ":",
    "\"",
    "\\u0030",
    " ",
    "\n",
    "1760000001",
    "1.760000001e9",
    "-0",
    "\u{e9}",
];

/// The time and the action of the seeds.
const NOW_S: u64 = 1_760_000_001;
const ACTION: &str = "presence.ping";
/// The wallet that signed the seeds (the first of the development mnemonic), and the text.
const SIGNER: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const TEXT: &str = "{}";

#[test]
fn envelopes() {
    let (seeds, brand) = (Seeds::load(env!("CARGO_MANIFEST_DIR"), "envelopes", WORDS), Brand::default());
    let brand = std::panic::AssertUnwindSafe(brand);
    bolero::check!(name = "envelopes").for_each(|input: &[u8]| seeds.run(input, |bytes| check(&brand, bytes)));
}

/// Tries the same bytes in every place that can hold an envelope.
fn check(brand: &Brand, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let by_body = verify_signed_body(brand, ACTION, bytes, NOW_S);
    let by_query = verify_signed_query(brand, ACTION, &text, NOW_S);
    let by_both = verify_signed_headers(brand, ACTION, &HeaderMap::new(), Some(&text), bytes, NOW_S);
    let by_headers = verify_signed_headers(brand, ACTION, &headers(bytes), Some(&text), b"", NOW_S);
    for signed in [by_body, by_query, by_both, by_headers] {
        match signed {
            Ok(signed) => assert_is_the_seed(&signed),
            // Builds the text for the client as well.
            Err(refusal) => assert!(!refusal.to_string().is_empty() && !refusal.hint().is_empty()),
        }
    }
}

fn assert_is_the_seed(signed: &SignedRequest) {
    assert_eq!(signed.signer.to_checksum(None), SIGNER);
    assert_eq!((signed.ts_s, signed.payload()), (NOW_S, TEXT));
}

/// The lines of the bytes as the values of the three headers.
fn headers(bytes: &[u8]) -> HeaderMap {
    let names = ["x-service-address", "x-service-ts", "x-service-sig"].map(HeaderName::from_static);
    let values = bytes.split(|byte| *byte == b'\n').map(HeaderValue::from_bytes);
    let mut headers = HeaderMap::new();
    for (name, value) in names.into_iter().cycle().zip(values).take(9) {
        if let Ok(value) = value {
            headers.append(name, value);
        }
    }
    headers
}
