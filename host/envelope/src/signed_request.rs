//! Verifies requests that carry their envelope in the JSON body, in headers or in the query.
//!
//! Rule: [`SignedRequest::payload`] holds only what the signature covers. An unsigned body, which signed reads and
//! deletes accept, is used for one check only: it must not contradict the URL.

use std::borrow::Cow;
use std::iter;

use alloy_primitives::Address;
use http::HeaderMap;
use request_signing::canonical::CanonicalError;
use serde_json::Value;

use super::brand::Brand;
use super::envelope::{Envelope, Field};
use super::error::EnvelopeError;
use super::field_error::{EnvelopeField, FieldError};
use super::strict_json::{self, Document};
use super::verify::{Verified, verify};

const EMPTY_TEXT: &str = "";
const EMPTY_OBJECT: &str = "{}";

#[derive(Debug)]
pub struct SignedRequest {
    pub signer: Address,
    pub ts_s: u64,
    /// The EIP-191 digest that was signed. With the signer it is the key of the replay guard: the same for every byte form of a signature,
    /// another for a new ts.
    pub digest: [u8; 32],
    /// The body without the envelope, signed or not.
    body: Document,
    signed_text: SignedText,
}

/// The text whose hash was signed.
#[derive(Debug)]
enum SignedText {
    Body,
    /// The body, with its keys in the order of JavaScript.
    Reordered(String),
    /// A constant: the body, if there is one, is not signed.
    NoBody(&'static str),
}

impl SignedRequest {
    /// The hashed text: the payload's canonical JSON, or `` or `{}` for a request that signs no payload.
    #[must_use]
    pub fn canonical(&self) -> &str {
        match &self.signed_text {
            SignedText::Body => self.body.text(),
            SignedText::Reordered(text) => text,
            SignedText::NoBody(text) => text,
        }
    }

    /// An object: the signed body without the envelope, empty if no body was signed.
    #[must_use]
    pub fn payload(&self) -> &str {
        match self.canonical() {
            EMPTY_TEXT => EMPTY_OBJECT,
            text => text,
        }
    }

    /// As [`Self::payload`].
    #[must_use]
    pub fn into_payload(self) -> String {
        match self.signed_text {
            SignedText::Body => self.body.into_text(),
            SignedText::Reordered(text) => text,
            SignedText::NoBody(_) => EMPTY_OBJECT.to_owned(),
        }
    }

    #[must_use]
    pub fn has_payload(&self) -> bool {
        !matches!(self.signed_text, SignedText::NoBody(_)) && !self.body.is_empty()
    }

    /// A target that the body names in `field` must be the one of the URL.
    pub fn check_target(&self, field: &str, url_value: &str) -> Result<(), EnvelopeError> {
        let is_same = match self.body.member(field) {
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
    let (body, members) = strict_json::parse_body(body)?;
    let verified = verify(brand, action, &Envelope::from_body(members), payload_texts(&body), now_s)?;
    let Verified { signer, ts_s, digest, body_text } = verified;
    let signed_text = of_body(body_text);
    Ok(SignedRequest { signer, ts_s, digest, body, signed_text })
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
    let (body, members) =
        if body.is_empty() { (Document::empty(), Default::default()) } else { strict_json::parse_body(body)? };
    let envelope = Envelope::from_headers(brand, headers)
        .or(Envelope::from_query(query.unwrap_or_default()))
        .or(Envelope::from_body(members));
    require_sig(&envelope)?;
    let of_payload = (!body.is_empty()).then(|| payload_texts(&body)).into_iter().flatten();
    let verified = verify(brand, action, &envelope, of_payload.chain(constant_texts()), now_s)?;
    let Verified { signer, ts_s, digest, body_text } = verified;
    // The canonical text of a body with members is never one of the constants.
    let signed_text = match &*body_text {
        EMPTY_TEXT => SignedText::NoBody(EMPTY_TEXT),
        EMPTY_OBJECT => SignedText::NoBody(EMPTY_OBJECT),
        _ => of_body(body_text),
    };
    Ok(SignedRequest { signer, ts_s, digest, body, signed_text })
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
    let Verified { signer, ts_s, digest, .. } = verify(brand, action, &envelope, texts, now_s)?;
    let (body, signed_text) = (Document::empty(), SignedText::NoBody(EMPTY_OBJECT));
    Ok(SignedRequest { signer, ts_s, digest, body, signed_text })
}

fn of_body(text: Cow<'_, str>) -> SignedText {
    match text {
        Cow::Borrowed(_) => SignedText::Body,
        Cow::Owned(text) => SignedText::Reordered(text),
    }
}

/// A read without an envelope fails with the code of a missing signature, before its address is checked.
fn require_sig(envelope: &Envelope<'_>) -> Result<(), EnvelopeError> {
    match envelope.sig {
        Field::Missing => Err(EnvelopeError::Field { field: EnvelopeField::Sig, error: FieldError::Missing }),
        _ => Ok(()),
    }
}

/// The texts that a signer may have hashed, the most likely first, built lazily.
fn payload_texts(body: &Document) -> impl Iterator<Item = Result<Cow<'_, str>, CanonicalError>> {
    let reordered = iter::once_with(|| body.in_javascript_order()).flatten();
    iter::once(Ok(Cow::Borrowed(body.text()))).chain(reordered.map(|text| text.map(Cow::Owned)))
}

fn constant_texts<'t>() -> impl Iterator<Item = Result<Cow<'t, str>, CanonicalError>> {
    [EMPTY_TEXT, EMPTY_OBJECT].into_iter().map(|text| Ok(Cow::Borrowed(text)))
}
