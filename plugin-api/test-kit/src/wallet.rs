//! Wallets that sign requests as clients do.

use request_signing::{MESSAGE_LINE, canonical, digest, message, sign};
use serde_json::{Map, Value, json};

/// A wallet; equal numbers give equal wallets.
#[derive(Clone, Debug)]
pub struct Wallet {
    key: [u8; 32],
    address: String,
}

impl Wallet {
    pub fn new(number: u64) -> Self {
        let mut key = [0x42; 32];
        key[24..].copy_from_slice(&number.to_be_bytes());
        let signed = sign(&key, |_| [1; 32]);
        let address = signed.map(|(address, _)| address.to_checksum(None)).unwrap_or_default();
        Self { key, address }
    }

    /// The private key in hexadecimal digits. It is not secret: it belongs to a test.
    pub fn key_text(&self) -> String {
        hex::encode(self.key)
    }

    /// Checksummed.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The signature over action, time and the hash of `body_text`.
    pub fn sign(&self, action: &str, ts: i64, body_text: &str) -> String {
        let ts = u64::try_from(ts).unwrap_or_default();
        let signed = sign(&self.key, |address| digest(&message(MESSAGE_LINE, action, address, ts, body_text)));
        signed.map(|(_, signature)| signature).unwrap_or_default()
    }

    /// The signature over a text, by EIP-191.
    pub fn sign_text(&self, text: &str) -> String {
        let signed = sign(&self.key, |_| digest(text));
        signed.map(|(_, signature)| signature).unwrap_or_default()
    }

    /// `payload` with the envelope of a signed body.
    pub fn signed_body(&self, action: &str, ts: i64, payload: &Value) -> Value {
        let canonical = canonical::rfc8785(payload).unwrap_or_default();
        let mut body: Map<String, Value> = payload.as_object().cloned().unwrap_or_default();
        body.insert("address".into(), json!(self.address));
        body.insert("ts".into(), json!(ts));
        body.insert("sig".into(), json!(self.sign(action, ts, &canonical)));
        Value::Object(body)
    }

    /// The three headers of a signed read over `body_text`.
    pub fn signed_headers(&self, action: &str, ts: i64, body_text: &str) -> [(String, String); 3] {
        [
            ("X-Service-Address".into(), self.address.clone()),
            ("X-Service-Ts".into(), ts.to_string()),
            ("X-Service-Sig".into(), self.sign(action, ts, body_text)),
        ]
    }

    /// The query of a signed read over `{}`.
    pub fn signed_query(&self, action: &str, ts: i64) -> String {
        format!("address={}&ts={ts}&sig={}", self.address, self.sign(action, ts, "{}"))
    }
}
