//! Operations against vectors of another implementation (Python), and every way in which a sealed text must not open.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::{
    call::{self, SecretResponse},
    keyring::Keyring,
    master_key::{KeyPurpose, MasterKey},
    seal::SealContext,
};
use plugin_api::{
    abi::{HostError, HostErrorCode},
    manifest::{SealedKeyForm, SecretCall, SecretOperation},
};
use proptest::prelude::*;
use secrecy::SecretString;
use serde_json::json;
use std::collections::BTreeSet;

/// The bytes 1 to 32.
const MASTER: &str = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
const MASTER_ID: &str = "3dfe61bc8e189249";
const OTHER: &str = "ff02030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
/// `a note`, sealed by `memory` as `values` for `row 1`.
const SEALED_TEXT: &str = "013dfe61bc8e189249404142434445464748494a4b4c4d4e4f5051525354555657\
    baf5b3b37ce119542ed7cd6f2ae9ebb19656e197638a";
/// `whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`, sealed by `webhooks` as `keys` for `webhook 7`.
const SEALED_KEY: &str = "013dfe61bc8e189249404142434445464748494a4b4c4d4e4f5051525354555657\
    3173886c901eb7dae3b0756b46132771930cb9cf14d992cffd1a80f4e0941c24372945c38a99289bc342517f10e2101bd30daf06cd56";

fn key(text: &str) -> MasterKey {
    MasterKey::from_hex(&SecretString::from(text)).unwrap()
}

fn keyring(newest: &str, older: &[&str]) -> Keyring {
    Keyring::new(key(newest), older.iter().map(|text| key(text)).collect())
}

fn call(
    keyring: &Keyring,
    (plugin, secret): (&str, &str),
    operation: SecretOperation,
    body: &[u8],
) -> Result<SecretResponse, HostError> {
    let call = SecretCall { secret: secret.to_owned(), operation };
    call::run(keyring, plugin, &serde_json::to_vec(&call).unwrap(), body)
}

const MEMORY: (&str, &str) = ("memory", "values");
const WEBHOOKS: (&str, &str) = ("webhooks", "keys");

fn seal(associated_data: &str) -> SecretOperation {
    SecretOperation::Seal { associated_data: hex::encode(associated_data) }
}

fn open(associated_data: &str) -> SecretOperation {
    SecretOperation::Open { associated_data: hex::encode(associated_data) }
}

fn reseal(associated_data: &str) -> SecretOperation {
    SecretOperation::Reseal { associated_data: hex::encode(associated_data) }
}

fn with_key(sealed: &[u8], associated_data: &str, form: SealedKeyForm) -> SecretOperation {
    let (associated_data, sealed) = (hex::encode(associated_data), hex::encode(sealed));
    SecretOperation::HmacWithKey { associated_data, sealed, form }
}

fn code_of(result: Result<SecretResponse, HostError>) -> u32 {
    result.expect_err("it must not open").code
}

const INVALID: u32 = HostErrorCode::Invalid as u32;

#[test]
fn vectors_of_another_implementation() {
    let keyring = keyring(MASTER, &[]);
    assert_eq!(keyring.newest().id().to_string(), MASTER_ID);
    let sealed = hex::decode(SEALED_TEXT).unwrap();
    assert_eq!(call(&keyring, MEMORY, open("row 1"), &sealed).unwrap().bytes, b"a note");
    let tag = call(&keyring, ("memory", "names"), SecretOperation::Hmac, b"a name").unwrap().bytes;
    assert_eq!(hex::encode(tag), "348fb20fcf949bd5dbee2e8c9cee577bbd312e85b0fa782898676305cc50e9b3");
}

/// The vector of the Standard Webhooks specification: `v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=`.
#[test]
fn a_sealed_key_signs_in_both_forms() {
    let keyring = keyring(MASTER, &[]);
    let body = br#"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}"#;
    let sealed = hex::decode(SEALED_KEY).unwrap();
    for (form, tag) in [
        (SealedKeyForm::StandardWebhooks, "83484cf52b04f8e4cf2531adfed9882ad4b2665137b852442d594d20e2c9d4e1"),
        (SealedKeyForm::Text, "4dcc6584af5be940fa895235654dad4eaa7c3c455f611b1e34d7dae9bf8b7148"),
    ] {
        let signed = call(&keyring, WEBHOOKS, with_key(&sealed, "webhook 7", form), body).unwrap();
        assert_eq!(hex::encode(signed.bytes), tag);
    }
    let both = |body_from| SecretOperation::WebhookTags {
        associated_data: hex::encode("webhook 7"),
        sealed: SEALED_KEY.to_owned(),
        body_from,
    };
    let body_from = body.len() - br#"{"test": 2432232314}"#.len();
    let own =
        call(&keyring, WEBHOOKS, with_key(&sealed, "webhook 7", SealedKeyForm::Text), &body[body_from..]).unwrap();
    let standard = "83484cf52b04f8e4cf2531adfed9882ad4b2665137b852442d594d20e2c9d4e1";
    let tags = call(&keyring, WEBHOOKS, both(body_from), body).unwrap().bytes;
    assert_eq!(hex::encode(tags), hex::encode(own.bytes) + standard);
    assert_eq!(code_of(call(&keyring, WEBHOOKS, both(body.len() + 1), body)), INVALID);
    // A key that is no base64 of Standard Webhooks is itself in both forms.
    let seal_key = SecretOperation::SealKey { associated_data: hex::encode("w") };
    let plain = call(&keyring, WEBHOOKS, seal_key, b"sixteen letters!").unwrap().bytes;
    let tag = |form| call(&keyring, WEBHOOKS, with_key(&plain, "w", form), body).unwrap().bytes;
    assert_eq!(tag(SealedKeyForm::Text), tag(SealedKeyForm::StandardWebhooks));
}

#[test]
fn what_is_sealed_differs_each_time_and_shows_nothing() {
    let keyring = keyring(MASTER, &[]);
    let sealed: BTreeSet<Vec<u8>> =
        (0..50).map(|_| call(&keyring, MEMORY, seal("a"), b"hunter2 hunter2").unwrap().bytes).collect();
    assert_eq!(sealed.len(), 50, "each has its own nonce");
    for text in sealed {
        assert_eq!(text.len(), 49 + 15);
        assert!(!text.windows(7).any(|part| part == b"hunter2"));
        assert_eq!(call(&keyring, MEMORY, open("a"), &text).unwrap().bytes, b"hunter2 hunter2");
    }
}

#[test]
fn no_other_plugin_name_or_record_opens_it() {
    let keyring = keyring(MASTER, &[]);
    let sealed = call(&keyring, MEMORY, seal("row 1"), b"a note").unwrap().bytes;
    for (place, associated) in [
        (("webhooks", "values"), "row 1"),
        (("memory", "value"), "row 1"),
        (("memor", "yvalues"), "row 1"),
        (MEMORY, "row 2"),
        (MEMORY, "row 1 "),
    ] {
        let refused = call(&keyring, place, open(associated), &sealed);
        assert_eq!(code_of(refused), INVALID, "{place:?} {associated}");
    }
    let other = self::keyring(OTHER, &[]);
    let error = call(&other, MEMORY, open("row 1"), &sealed).unwrap_err();
    assert!(error.is(HostErrorCode::Disabled) && error.message.contains(MASTER_ID), "{error}");
    let tags: BTreeSet<Vec<u8>> = [MEMORY, ("memory", "names"), ("webhooks", "values")]
        .map(|place| call(&keyring, place, SecretOperation::Hmac, b"a name").unwrap().bytes)
        .into();
    assert_eq!(tags.len(), 3, "each plugin and name has its own key");
}

#[test]
fn a_sealed_key_is_never_opened() {
    let keyring = keyring(MASTER, &[]);
    let create = SecretOperation::CreateKey { associated_data: hex::encode("a"), bytes: 32 };
    let SecretResponse { value, bytes } = call(&keyring, WEBHOOKS, create, &[]).unwrap();
    let text = value.as_str().unwrap();
    assert!(text.starts_with("whsec_") && text.len() == 6 + 44, "{text}");
    assert_eq!(code_of(call(&keyring, WEBHOOKS, open("a"), &bytes)), INVALID);
    // Nor does a text serve as a key.
    let sealed_text = call(&keyring, WEBHOOKS, seal("a"), text.as_bytes()).unwrap().bytes;
    let signed = call(&keyring, WEBHOOKS, with_key(&sealed_text, "a", SealedKeyForm::Text), b"m");
    assert_eq!(code_of(signed), INVALID);
    let signed = call(&keyring, WEBHOOKS, with_key(&bytes, "b", SealedKeyForm::Text), b"m");
    assert_eq!(code_of(signed), INVALID);
}

#[test]
fn a_rotation_opens_what_was_sealed_before() {
    let (before, after) = (keyring(MASTER, &[]), keyring(OTHER, &[MASTER]));
    let sealed = call(&before, MEMORY, seal("a"), b"a note").unwrap().bytes;
    assert_eq!(call(&after, MEMORY, open("a"), &sealed).unwrap().bytes, b"a note");

    let resealed = call(&after, MEMORY, reseal("a"), &sealed).unwrap().bytes;
    assert_eq!(call(&keyring(OTHER, &[]), MEMORY, open("a"), &resealed).unwrap().bytes, b"a note");
    assert!(call(&before, MEMORY, open("a"), &resealed).unwrap_err().is(HostErrorCode::Disabled));
    assert_eq!(call(&after, MEMORY, reseal("a"), &resealed).unwrap().bytes, b"", "it has the newest key");
    assert_eq!(code_of(call(&after, MEMORY, reseal("b"), &sealed)), INVALID);

    let sealed_key = hex::decode(SEALED_KEY).unwrap();
    let resealed = call(&after, WEBHOOKS, reseal("webhook 7"), &sealed_key).unwrap().bytes;
    assert_eq!(code_of(call(&after, WEBHOOKS, open("webhook 7"), &resealed)), INVALID, "it is still a key");
    let tag = |keyring: &Keyring, sealed: &[u8]| {
        call(keyring, WEBHOOKS, with_key(sealed, "webhook 7", SealedKeyForm::Text), b"m").unwrap().bytes
    };
    assert_eq!(tag(&keyring(OTHER, &[]), &resealed), tag(&before, &sealed_key));
}

#[test]
fn tags_of_older_keys_verify() {
    let (before, after) = (keyring(MASTER, &[]), keyring(OTHER, &[MASTER]));
    let hmacs = |keyring: &Keyring| call(keyring, MEMORY, SecretOperation::Hmac, b"m").unwrap().bytes;
    let (old, both) = (hmacs(&before), hmacs(&after));
    assert_eq!((old.len(), both.len()), (32, 64));
    assert_eq!(&both[32..], &old, "the newest first");
    assert_eq!(&both[..32], hmacs(&keyring(OTHER, &[])));
    let verifies = |keyring: &Keyring, tag: &[u8], message: &[u8]| {
        call(keyring, MEMORY, SecretOperation::VerifyHmac { tag: hex::encode(tag) }, message).unwrap().value
    };
    for tag in [&both[..32], &both[32..]] {
        assert_eq!(verifies(&after, tag, b"m"), json!(true));
        assert_eq!(verifies(&after, tag, b"n"), json!(false));
        assert_eq!(verifies(&after, &tag[..31], b"m"), json!(false), "a part of a tag is none");
    }
    assert_eq!(verifies(&before, &both[..32], b"m"), json!(false));
    assert_eq!(verifies(&after, b"", b"m"), json!(false));
    assert_eq!(verifies(&after, &both, b"m"), json!(false));
}

#[test]
fn wrong_input_is_refused_with_a_reason() {
    let keyring = keyring(MASTER, &[]);
    let seal_key = || SecretOperation::SealKey { associated_data: "aa".into() };
    let create = |bytes| SecretOperation::CreateKey { associated_data: "aa".into(), bytes };
    let cases = [
        (seal(""), "a".to_owned(), "the associated data has 0 bytes"),
        (seal(&"a".repeat(1025)), "a".to_owned(), "the associated data has 1025 bytes"),
        (seal("a"), "x".repeat(1024 * 1024 + 1), "at most 1048576"),
        (SecretOperation::Seal { associated_data: "0g".into() }, String::new(), "not hexadecimal digits"),
        (open("a"), String::new(), "it does not open"),
        (open("a"), "x".repeat(1024 * 1024 + 50), "at most 1048576"),
        (open("a"), "\u{1}short".to_owned(), "it does not open"),
        (open("a"), "\u{2}".repeat(80), "it does not open"),
        (seal_key(), "fifteen letters".to_owned(), "16 to 128 characters"),
        (seal_key(), "ä".repeat(15), "16 to 128 characters"),
        (seal_key(), "x".repeat(129), "16 to 128 characters"),
        (seal_key(), "whsec_no+base64+at+all".to_owned(), "24 to 64 bytes in base64"),
        (seal_key(), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLQ==".to_owned(), "24 to 64 bytes in base64"),
        (create(23), String::new(), "24 to 64 bytes"),
        (create(65), String::new(), "24 to 64 bytes"),
    ];
    for (operation, body, part) in cases {
        let error = call(&keyring, MEMORY, operation.clone(), body.as_bytes()).unwrap_err();
        assert!(error.is(HostErrorCode::Invalid) && error.message.contains(part), "{operation:?}: {error}");
    }
    for name in ["", "Values", "a b", "a\0b", &"a".repeat(65)] {
        let error = call(&keyring, ("memory", name), seal("a"), b"a").unwrap_err();
        assert!(error.message.contains("the name of a secret"), "{name:?}: {error}");
    }
    assert!(call::run(&keyring, "memory", b"{}", b"").unwrap_err().message.contains("not a call of a secret"));
}

#[test]
fn what_is_as_long_as_it_may_be_is_taken() {
    let keyring = keyring(MASTER, &[]);
    let name = format!("{}_7", "a".repeat(62));
    let (record, text) = ("r".repeat(1024), "x".repeat(1024 * 1024));
    let sealed = call(&keyring, ("memory", &name), seal(&record), text.as_bytes()).unwrap().bytes;
    assert!(call(&keyring, ("memory", &name), reseal(&record), &sealed).unwrap().bytes.is_empty());
    let opened = call(&keyring, ("memory", &name), open(&record), &sealed).unwrap().bytes;
    assert!(opened == text.as_bytes());
}

#[test]
fn keys_appear_in_no_text() {
    let keyring = keyring(MASTER, &[OTHER]);
    let text = format!("{keyring:?}");
    assert!(text.contains(MASTER_ID) && !text.contains("0102") && !text.contains("1, 2, 3"), "{text}");
    for wrong in ["hunter2", "", &"0".repeat(64), &MASTER[..62]] {
        let error = MasterKey::from_hex(&SecretString::from(wrong)).unwrap_err().to_string();
        assert!(error.contains("64 hexadecimal digits") && (wrong.is_empty() || !error.contains(wrong)), "{error}");
    }
    assert_eq!(key(&format!(" 0x{MASTER}\n")).id(), key(MASTER).id());
}

proptest! {
    #[test]
    fn whatever_was_changed_does_not_open(text in ".{0,200}", at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let keyring = keyring(MASTER, &[OTHER]);
        let mut sealed = call(&keyring, MEMORY, seal("a"), text.as_bytes()).unwrap().bytes;
        prop_assert_eq!(call(&keyring, MEMORY, open("a"), &sealed).unwrap().bytes, text.as_bytes());
        let at = at.index(sealed.len());
        sealed[at] ^= 1 << bit;
        prop_assert!(call(&keyring, MEMORY, open("a"), &sealed).is_err());
        sealed[at] ^= 1 << bit;
        for cut in [sealed.len() - 1, at] {
            prop_assert!(call(&keyring, MEMORY, open("a"), &sealed[..cut]).is_err());
        }
    }
}

const LOG: (&str, &str) = ("transparency", "log_key");
/// RFC 8032 §7.1, test 2: seed, public key, message and signature.
const RFC_8032: [&str; 4] = [
    "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "72",
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
];

fn sign(sealed: &[u8], associated_data: &str) -> SecretOperation {
    SecretOperation::Sign { associated_data: hex::encode(associated_data), sealed: hex::encode(sealed) }
}

#[test]
fn a_sealed_signing_key_makes_the_signatures_of_rfc_8032() {
    let keyring = keyring(MASTER, &[]);
    let [seed, public_key, message, signature] = RFC_8032.map(|digits| hex::decode(digits).unwrap());
    let sealed_for =
        SealContext { purpose: KeyPurpose::SigningKey, plugin: LOG.0, secret: LOG.1, associated_data: b"key 1" };
    let sealed = sealed_for.seal(&keyring, &seed).unwrap();
    assert_eq!(call(&keyring, LOG, sign(&sealed, "key 1"), &message).unwrap().bytes, signature);
    assert_eq!(super::signing_key::public_key(&seed).unwrap(), *public_key);
}

#[test]
fn a_signing_key_is_new_each_time_and_nothing_but_its_plugin_signs_with_it() {
    let keyring = keyring(MASTER, &[]);
    let create = || {
        let operation = SecretOperation::CreateSigningKey { associated_data: hex::encode("key 1") };
        call(&keyring, LOG, operation, b"").unwrap()
    };
    let (created, another) = (create(), create());
    assert!(created.value != another.value && created.bytes != another.bytes);
    let signed = call(&keyring, LOG, sign(&created.bytes, "key 1"), b"a root").unwrap().bytes;
    let public_key = hex::decode(created.value.as_str().unwrap()).unwrap();
    let public_key = ed25519_dalek::VerifyingKey::try_from(&*public_key).unwrap();
    public_key.verify_strict(b"a root", &ed25519_dalek::Signature::from_slice(&signed).unwrap()).unwrap();
    assert_eq!(code_of(call(&keyring, LOG, sign(&created.bytes, "key 2"), b"a root")), INVALID);
    assert_eq!(code_of(call(&keyring, WEBHOOKS, sign(&created.bytes, "key 1"), b"a root")), INVALID);
    assert_eq!(code_of(call(&keyring, LOG, open("key 1"), &created.bytes)), INVALID);
    let as_hmac = with_key(&created.bytes, "key 1", SealedKeyForm::Text);
    assert_eq!(code_of(call(&keyring, LOG, as_hmac, b"a root")), INVALID);
}

#[test]
fn a_signing_key_is_the_same_after_a_rotation() {
    let old = keyring(MASTER, &[]);
    let operation = SecretOperation::CreateSigningKey { associated_data: hex::encode("key 1") };
    let created = call(&old, LOG, operation, b"").unwrap().bytes;
    let signed = call(&old, LOG, sign(&created, "key 1"), b"a root").unwrap().bytes;
    let resealed = call(&keyring(OTHER, &[MASTER]), LOG, reseal("key 1"), &created).unwrap().bytes;
    let without_old = keyring(OTHER, &[]);
    assert_eq!(call(&without_old, LOG, sign(&resealed, "key 1"), b"a root").unwrap().bytes, signed);
    assert_ne!(code_of(call(&without_old, LOG, sign(&created, "key 1"), b"a root")), 0);
}
