//! The core of every signed request: address, time, shape, recovery, comparison, in the order clients rely on.
//!
//! Rule: cheap checks come first, nothing is hashed before the time window holds, and only a mismatch moves on to the next
//! text that the signer may have hashed.

use std::borrow::Cow;

use alloy_primitives::{Address, Signature};

use super::address;
use super::brand::Brand;
use super::canonical::CanonicalError;
use super::fields::Envelope;
use super::message::{digest, message};
use super::refusal::{Mismatch, Refusal};
use super::signature::{self, SignatureFault};

/// On both sides of the gateway's clock, the edges included.
pub const TS_WINDOW_S: u64 = 300;

#[derive(Debug)]
pub struct Verified {
    pub signer: Address,
    pub ts_s: u64,
    /// The EIP-191 digest that was signed.
    pub digest: [u8; 32],
    /// The candidate whose hash was in the message.
    pub body_text: Cow<'static, str>,
}

/// `body_texts` are the texts whose hash the signer may have signed, the likeliest first.
pub fn verify(
    brand: &Brand,
    action: &str,
    envelope: &Envelope<'_>,
    body_texts: impl Iterator<Item = Result<Cow<'static, str>, CanonicalError>>,
    now_s: u64,
) -> Result<Verified, Refusal> {
    let claim = Claim::check(envelope, now_s)?;
    let mut first_mismatch = None;
    for body_text in body_texts {
        match claim.prove(brand, action, body_text?)? {
            Proof::Signed(verified) => return Ok(verified),
            Proof::Mismatch(mismatch) => first_mismatch = first_mismatch.or(Some(mismatch)),
        }
    }
    // Without any text there is no message that the signature could be over.
    Err(first_mismatch.map_or(Refusal::Signature(SignatureFault::Unrecoverable), Refusal::Mismatch))
}

/// An envelope in good form. Nobody has proved anything yet.
struct Claim {
    address: Address,
    ts_s: u64,
    signature: Signature,
}

enum Proof {
    Signed(Verified),
    Mismatch(Box<Mismatch>),
}

impl Claim {
    fn check(envelope: &Envelope<'_>, now_s: u64) -> Result<Self, Refusal> {
        let address = address::parse(envelope.address_text()?)?;
        let ts_s = envelope.ts_s()?;
        if ts_s.abs_diff(now_s) > TS_WINDOW_S {
            return Err(Refusal::TsStale { ts_s, now_s });
        }
        let signature = signature::parse(envelope.sig_text()?)?;
        Ok(Self { address, ts_s, signature })
    }

    fn prove(&self, brand: &Brand, action: &str, body_text: Cow<'static, str>) -> Result<Proof, Refusal> {
        let message = message(brand.message_line(), action, &self.address, self.ts_s, &body_text);
        let digest = digest(&message);
        let recovered = signature::recover(&self.signature, digest)?;
        if recovered == self.address {
            return Ok(Proof::Signed(Verified { signer: recovered, ts_s: self.ts_s, digest, body_text }));
        }
        Ok(Proof::Mismatch(Box::new(Mismatch {
            claimed: self.address,
            recovered,
            expected_message: message,
            expected_body: body_text.into_owned(),
        })))
    }
}
