//! A key that signs as wallets do, and JSON values for property tests.

use alloy_primitives::Address;
use proptest::prelude::*;
use secp256k1::{Message, PublicKey, SECP256K1, SecretKey};
use serde_json::{Map, Value, json};

use super::super::{Brand, SignedRequest, canonical, digest, message};

pub const NOW_S: u64 = 1_760_000_000;
pub const ACTION: &str = "post.create";

/// What the handler gets.
pub fn payload(signed: &SignedRequest) -> Value {
    serde_json::from_str(signed.payload()).unwrap()
}

pub struct Wallet {
    key: SecretKey,
    pub address: Address,
}

impl Wallet {
    pub fn new(seed: u8) -> Self {
        let key = SecretKey::from_byte_array([seed; 32]).unwrap();
        let public = PublicKey::from_secret_key(SECP256K1, &key).serialize_uncompressed();
        Self { key, address: Address::from_raw_public_key(&public[1..]) }
    }

    /// r, s and v of 27 or 28.
    pub fn sign_digest(&self, digest: [u8; 32]) -> [u8; 65] {
        let signature = SECP256K1.sign_ecdsa_recoverable(Message::from_digest(digest), &self.key);
        let (id, scalars) = signature.serialize_compact();
        let mut bytes = [0; 65];
        bytes[..64].copy_from_slice(&scalars);
        bytes[64] = 27 + u8::try_from(i32::from(id)).unwrap();
        bytes
    }

    pub fn sign(&self, brand: &Brand, action: &str, ts_s: u64, body_text: &str) -> String {
        let message = message(brand.message_line(), action, &self.address, ts_s, body_text);
        format!("0x{}", hex::encode(self.sign_digest(digest(&message))))
    }

    /// A request body as clients send it.
    pub fn body(&self, payload: &Value) -> Map<String, Value> {
        let text = canonical::rfc8785(payload).unwrap();
        let mut body = payload.as_object().unwrap().clone();
        body.insert("address".into(), json!(self.address.to_checksum(None)));
        body.insert("ts".into(), json!(NOW_S));
        body.insert("sig".into(), json!(self.sign(&Brand::default(), ACTION, NOW_S, &text)));
        body
    }
}

pub fn to_bytes(body: &Map<String, Value>) -> Vec<u8> {
    serde_json::to_vec(body).unwrap()
}

pub fn any_text() -> impl Strategy<Value = String> {
    // Short, so that keys collide and shrink well; U+0000 is refused on its own.
    proptest::collection::vec(any::<char>().prop_filter("NUL", |c| *c != '\0'), 0..6).prop_map(String::from_iter)
}

fn any_key() -> impl Strategy<Value = String> {
    prop_oneof![4 => any_text(), 1 => "[0-9]{1,10}", 1 => "[a-c]"]
}

pub fn any_json() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-(1_i64 << 53)..=(1 << 53)).prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no infinity", |n| n.is_finite()).prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((any_key(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

pub fn any_payload() -> impl Strategy<Value = Value> {
    proptest::collection::vec((any_key(), any_json()), 0..5).prop_map(|members| {
        let mut payload: Map<String, Value> = members.into_iter().collect();
        for envelope_field in ["address", "ts", "sig"] {
            payload.remove(envelope_field);
        }
        Value::Object(payload)
    })
}
