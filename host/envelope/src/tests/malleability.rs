//! The byte forms of one signature: all have one replay key, or are refused.

use alloy_primitives::{Address, U256, uint};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{Brand, EnvelopeError, SignatureError, SignedRequest, verify_signed_body};
use super::wallet::{ACTION, NOW_S, Wallet, any_payload, to_bytes};

const CURVE_ORDER: U256 = uint!(0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141_U256);

fn verify(body: &serde_json::Map<String, Value>) -> Result<SignedRequest, EnvelopeError> {
    verify_signed_body(&Brand::default(), ACTION, &to_bytes(body), NOW_S)
}

fn replay_key(request: &SignedRequest) -> (Address, [u8; 32]) {
    (request.signer, request.digest)
}

fn code(body: &serde_json::Map<String, Value>) -> Option<&'static str> {
    verify(body).expect_err("must be refused").code()
}

fn sig_bytes(body: &serde_json::Map<String, Value>) -> [u8; 65] {
    let text = body["sig"].as_str().unwrap();
    hex::decode(&text[2..]).unwrap().try_into().unwrap()
}

fn with_v(mut bytes: [u8; 65], v: u8) -> [u8; 65] {
    bytes[64] = v;
    bytes
}

fn with_high_s(mut bytes: [u8; 65]) -> [u8; 65] {
    let s = CURVE_ORDER - U256::from_be_slice(&bytes[32..64]);
    bytes[32..64].copy_from_slice(&s.to_be_bytes::<32>());
    with_v(bytes, if bytes[64] == 27 { 28 } else { 27 })
}

fn lower(bytes: [u8; 65]) -> Value {
    json!(format!("0x{}", hex::encode(bytes)))
}

fn upper(bytes: [u8; 65]) -> Value {
    json!(format!("0x{}", hex::encode_upper(bytes)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn byte_forms_of_one_signature_share_a_replay_key(seed in 1_u8..255, payload in any_payload()) {
        let mut body = Wallet::new(seed).body(&payload);
        let original = verify(&body).unwrap();
        let bytes = sig_bytes(&body);
        let raw_v = with_v(bytes, bytes[64] - 27);
        for sig in [lower(bytes), upper(bytes), lower(raw_v), upper(raw_v)] {
            body.insert("sig".into(), sig);
            prop_assert_eq!(replay_key(&verify(&body).unwrap()), replay_key(&original));
        }
        for address in [original.signer.to_string().to_lowercase(), original.signer.to_string().to_uppercase().replacen("0X", "0x", 1)] {
            body.insert("address".into(), json!(address));
            body.insert("ts".into(), json!(format!("00{NOW_S}")));
            prop_assert_eq!(replay_key(&verify(&body).unwrap()), replay_key(&original));
        }
    }

    #[test]
    fn high_s_is_refused(seed in 1_u8..255, payload in any_payload()) {
        let mut body = Wallet::new(seed).body(&payload);
        let flipped = with_high_s(sig_bytes(&body));
        for bytes in [flipped, with_v(flipped, flipped[64] - 27)] {
            body.insert("sig".into(), lower(bytes));
            let refusal = verify(&body).unwrap_err();
            prop_assert!(matches!(refusal, EnvelopeError::Signature(SignatureError::HighS)), "{:?}", refusal);
            prop_assert_eq!(refusal.code(), Some("bad_sig"));
        }
    }

    #[test]
    fn the_other_v_recovers_another_address(seed in 1_u8..255, payload in any_payload()) {
        let mut body = Wallet::new(seed).body(&payload);
        let bytes = sig_bytes(&body);
        body.insert("sig".into(), lower(with_v(bytes, if bytes[64] == 27 { 28 } else { 27 })));
        prop_assert!(matches!(code(&body), Some("sig_mismatch" | "bad_sig")));
    }

    /// Changes each of the five lines.
    #[test]
    fn every_line_of_the_message_counts(payload in any_payload(), skew_s in 1_u64..300) {
        let wallet = Wallet::new(7);
        let body = wallet.body(&payload);
        prop_assert!(verify(&body).is_ok());

        let bytes = to_bytes(&body);
        let brand = Brand::new("Other Commons", "X-Service").unwrap();
        prop_assert_eq!(verify_signed_body(&brand, ACTION, &bytes, NOW_S).unwrap_err().code(), Some("sig_mismatch"));
        prop_assert_eq!(
            verify_signed_body(&Brand::default(), "thread.create", &bytes, NOW_S).unwrap_err().code(),
            Some("sig_mismatch")
        );
        let tamper = |field: &str, value: Value| {
            let mut body = body.clone();
            body.insert(field.into(), value);
            code(&body)
        };
        prop_assert_eq!(tamper("address", json!(Wallet::new(8).address.to_string())), Some("sig_mismatch"));
        prop_assert_eq!(tamper("ts", json!(NOW_S - skew_s)), Some("sig_mismatch"));
        prop_assert_eq!(tamper("one more", json!(null)), Some("sig_mismatch"));
    }

    #[test]
    fn the_handler_gets_what_was_signed(seed in 1_u8..255, payload in any_payload()) {
        let wallet = Wallet::new(seed);
        let signed = verify(&wallet.body(&payload)).unwrap();
        prop_assert_eq!(signed.signer, wallet.address);
        prop_assert_eq!(signed.ts_s, NOW_S);
        let canonical = super::super::canonical::rfc8785(&payload).unwrap();
        prop_assert_eq!(signed.canonical(), canonical.as_str());
        prop_assert_eq!(signed.payload(), canonical);
    }
}

#[test]
fn another_ts_is_another_replay_key() {
    let wallet = Wallet::new(1);
    let first = verify(&wallet.body(&json!({"body": "hi"}))).unwrap();
    let mut later = wallet.body(&json!({"body": "hi"}));
    later.insert("ts".into(), json!(NOW_S + 1));
    later.insert("sig".into(), json!(wallet.sign(&Brand::default(), ACTION, NOW_S + 1, r#"{"body":"hi"}"#)));
    let later = verify(&later).unwrap();
    assert_ne!(replay_key(&first), replay_key(&later));
    let other = verify(&Wallet::new(2).body(&json!({"body": "hi"}))).unwrap();
    assert_ne!(replay_key(&first), replay_key(&other));
}
