//! Verifies requests that carry their envelope in the JSON body, in headers or in the query.
//!
//! Rule: [`SignedRequest::payload`] holds only what the signature covers. An unsigned body, which signed reads and
//! deletes accept, is used for one check only: it must not contradict the URL.

use std::borrow::Cow;
use std::iter;

use alloy_primitives::Address;
use http::HeaderMap;
use request_signing::canonical::{self, CanonicalError};
use serde_json::{Map, Value};

use super::brand::Brand;
use super::envelope::{Envelope, Field};
use super::error::EnvelopeError;
use super::field_error::{EnvelopeField, FieldError};
use super::strict_json;
use super::verify::{Verified, verify};

const EMPTY_TEXT: &str = "";
const EMPTY_OBJECT: &str = "{}";

#[derive(Debug)]
pub struct SignedRequest {
    pub signer: Address,
    pub ts_s: u64,
    /// The EIP-191 digest that was signed.
    pub digest: [u8; 32],
    /// An object: the signed body without the envelope, empty if no body was signed.
    pub payload: Value,
    /// The hashed text: the payload's canonical JSON, or `` or `{}` for a request that signs no payload.
    pub canonical: Cow<'static, str>,
    unsigned_body: Option<Value>,
}

/// Identifies a signed request for the replay guard: the same for every byte form of a signature, another for a new ts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReplayKey {
    pub signer: Address,
    pub digest: [u8; 32],
}

impl SignedRequest {
    fn new(verified: Verified, payload: Value, unsigned_body: Option<Value>) -> Self {
        let Verified { signer, ts_s, digest, body_text } = verified;
        Self { signer, ts_s, digest, payload, canonical: body_text, unsigned_body }
    }

    #[must_use]
    pub fn replay_key(&self) -> ReplayKey {
        ReplayKey { signer: self.signer, digest: self.digest }
    }

    /// A target that the body names in `field` must be the one of the URL.
    pub fn check_target(&self, field: &str, url_value: &str) -> Result<(), EnvelopeError> {
        let body_value = self.unsigned_body.as_ref().unwrap_or(&self.payload).get(field);
        let is_same = match body_value {
            None => true,
            Some(Value::String(text)) => text == url_value,
            Some(Value::Number(number)) => number.to_string() == url_value,
            Some(_) => false,
        };
        if is_same { Ok(()) } else { Err(EnvelopeError::TargetMismatch { field: field.to_owned() }) }
    }
}

/// A write: the JSON body is the payload plus address, ts and sig.
pub fn verify_signed_body(
    brand: &Brand,
    action: &str,
    body: &[u8],
    now_s: u64,
) -> Result<SignedRequest, EnvelopeError> {
    let mut body = strict_json::parse_object(body)?;
    let envelope = Envelope::take_from_body(&mut body);
    let payload = Value::Object(body);
    let verified = verify(brand, action, &envelope, payload_texts(&payload), now_s)?;
    Ok(SignedRequest::new(verified, payload, None))
}

/// A read or a delete: each field of the envelope is taken from the headers, else the query, else the JSON body.
pub fn verify_signed_headers(
    brand: &Brand,
    action: &str,
    headers: &HeaderMap,
    query: Option<&str>,
    body: &[u8],
    now_s: u64,
) -> Result<SignedRequest, EnvelopeError> {
    let mut body = if body.is_empty() { Map::new() } else { strict_json::parse_object(body)? };
    let envelope = Envelope::from_headers(brand, headers)
        .or(Envelope::from_query(query.unwrap_or_default()))
        .or(Envelope::take_from_body(&mut body));
    require_sig(&envelope)?;
    if body.is_empty() {
        let verified = verify(brand, action, &envelope, constant_texts(), now_s)?;
        return Ok(SignedRequest::new(verified, empty_object(), None));
    }
    let body = Value::Object(body);
    let verified = verify(brand, action, &envelope, payload_texts(&body).chain(constant_texts()), now_s)?;
    // The canonical text of this body is never one of the constants, because it has members.
    let is_covered = ![EMPTY_TEXT, EMPTY_OBJECT].contains(&verified.body_text.as_ref());
    let (payload, unsigned_body) = if is_covered { (body, None) } else { (empty_object(), Some(body)) };
    Ok(SignedRequest::new(verified, payload, unsigned_body))
}

/// A read that browsers can link to: envelope in the query, payload `{}`.
pub fn verify_signed_query(
    brand: &Brand,
    action: &str,
    query: &str,
    now_s: u64,
) -> Result<SignedRequest, EnvelopeError> {
    let envelope = Envelope::from_query(query);
    require_sig(&envelope)?;
    let texts = iter::once(Ok(Cow::Borrowed(EMPTY_OBJECT)));
    let verified = verify(brand, action, &envelope, texts, now_s)?;
    Ok(SignedRequest::new(verified, empty_object(), None))
}

/// A read without an envelope fails with the code of a missing signature, before its address is checked.
fn require_sig(envelope: &Envelope<'_>) -> Result<(), EnvelopeError> {
    match envelope.sig {
        Field::Missing => Err(EnvelopeError::Field { field: EnvelopeField::Sig, error: FieldError::Missing }),
        _ => Ok(()),
    }
}

fn empty_object() -> Value {
    Value::Object(Map::new())
}

fn payload_texts(payload: &Value) -> impl Iterator<Item = Result<Cow<'static, str>, CanonicalError>> {
    canonical::candidates(payload).map(|text| text.map(Cow::Owned))
}

fn constant_texts() -> impl Iterator<Item = Result<Cow<'static, str>, CanonicalError>> {
    [EMPTY_TEXT, EMPTY_OBJECT].into_iter().map(|text| Ok(Cow::Borrowed(text)))
}
