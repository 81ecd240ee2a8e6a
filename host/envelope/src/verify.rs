//! The verification of every signed request: address, ts, form of the signature, recovery, comparison, in the order
//! that clients rely on.
//!
//! Rule: cheap checks come first, nothing is hashed before ts is within the window, and only a mismatch leads to the
//! next text that the signer may have hashed.

use std::borrow::Cow;

use alloy_primitives::{Address, Signature};
use request_signing::{canonical::CanonicalError, digest, message};

use super::address;
use super::brand::Brand;
use super::envelope::Envelope;
use super::error::{EnvelopeError, SignerMismatch};
use super::signature::{self, SignatureError};
use super::timestamp::TS_WINDOW_S;

#[derive(Debug)]
pub(crate) struct Verified<'t> {
    pub signer: Address,
    pub ts_s: u64,
    /// The EIP-191 digest that was signed.
    pub digest: [u8; 32],
    /// The candidate whose hash is in the signed message.
    pub body_text: Cow<'t, str>,
}

/// `body_texts` are the texts whose hash may have been signed, the most likely first.
pub(crate) fn verify<'t>(
    brand: &Brand,
    action: &str,
    envelope: &Envelope<'_>,
    body_texts: impl Iterator<Item = Result<Cow<'t, str>, CanonicalError>>,
    now_s: u64,
) -> Result<Verified<'t>, EnvelopeError> {
    let parsed = ParsedEnvelope::parse(envelope, now_s)?;
    let mut first_mismatch = None;
    for body_text in body_texts {
        match parsed.verify(brand, action, body_text?)? {
            Verification::Verified(verified) => return Ok(verified),
            Verification::Mismatch(mismatch) => first_mismatch = first_mismatch.or(Some(mismatch)),
        }
    }
    // Without any candidate there is no message that could have been signed.
    Err(first_mismatch.map_or(EnvelopeError::Signature(SignatureError::Unrecoverable), EnvelopeError::Mismatch))
}

/// A well-formed envelope whose signature is not yet verified.
struct ParsedEnvelope {
    address: Address,
    ts_s: u64,
    signature: Signature,
}

enum Verification<'t> {
    Verified(Verified<'t>),
    Mismatch(Box<SignerMismatch>),
}

impl ParsedEnvelope {
    fn parse(envelope: &Envelope<'_>, now_s: u64) -> Result<Self, EnvelopeError> {
        let address = address::parse(envelope.address_text()?)?;
        let ts_s = envelope.ts_s()?;
        if ts_s.abs_diff(now_s) > TS_WINDOW_S {
            return Err(EnvelopeError::TsStale { ts_s, now_s });
        }
        let signature = signature::parse(envelope.sig_text()?)?;
        Ok(Self { address, ts_s, signature })
    }

    fn verify<'t>(
        &self,
        brand: &Brand,
        action: &str,
        body_text: Cow<'t, str>,
    ) -> Result<Verification<'t>, EnvelopeError> {
        let message = message(brand.message_line(), action, &self.address, self.ts_s, &body_text);
        let digest = digest(&message);
        let recovered = signature::recover(&self.signature, digest)?;
        if recovered == self.address {
            return Ok(Verification::Verified(Verified { signer: recovered, ts_s: self.ts_s, digest, body_text }));
        }
        Ok(Verification::Mismatch(Box::new(SignerMismatch {
            claimed: self.address,
            recovered,
            expected_message: message,
            expected_body: body_text.into_owned(),
        })))
    }
}
