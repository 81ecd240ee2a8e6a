//! Why a signed request is refused, with the status and the code that clients act on.
//!
//! Rule: codes and statuses are a contract; texts and hints are for people. None of them contains more than the client
//! sent.

use alloy_primitives::Address;
use http::StatusCode;
use request_signing::canonical::CanonicalError;

use super::address::AddressError;
use super::field_error::{EnvelopeField, FieldError};
use super::signature::SignatureError;
use super::strict_json::StrictJsonError;
use super::timestamp::TS_WINDOW_S;

/// In seconds this is the year 5138, in milliseconds March 1973.
const MILLISECONDS_FROM: u64 = 100_000_000_000;
const SHOWN_BODY_MAX_CHARS: usize = 160;

#[derive(Debug, thiserror::Error)]
pub enum EnvelopeError {
    #[error(transparent)]
    Json(#[from] StrictJsonError),
    #[error(transparent)]
    NotCanonical(#[from] CanonicalError),
    #[error("the envelope's `{field}` {error}")]
    Field { field: EnvelopeField, error: FieldError },
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error("ts must be a whole number of seconds since 1970, as a JSON integer or a string of digits")]
    TsNotInteger,
    #[error("ts is {} s from the gateway's clock; {TS_WINDOW_S} s are allowed", ts_s.abs_diff(*now_s))]
    TsStale { ts_s: u64, now_s: u64 },
    #[error(transparent)]
    Signature(#[from] SignatureError),
    #[error("the signature is by {}, not by {}, or it is over another message", .0.recovered, .0.claimed)]
    Mismatch(Box<SignerMismatch>),
    #[error("the body's `{field}` differs from the one in the URL")]
    TargetMismatch { field: String },
}

/// A signature by another key, or over another message.
#[derive(Debug)]
pub struct SignerMismatch {
    pub claimed: Address,
    /// The signer, if the signed message was the expected one.
    pub recovered: Address,
    pub expected_message: String,
    pub expected_body: String,
}

impl EnvelopeError {
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Json(_) | Self::NotCanonical(_) | Self::TargetMismatch { .. } => StatusCode::BAD_REQUEST,
            Self::Field { .. }
            | Self::Address(_)
            | Self::TsNotInteger
            | Self::TsStale { .. }
            | Self::Signature(_)
            | Self::Mismatch(_) => StatusCode::UNAUTHORIZED,
        }
    }

    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Json(_) | Self::NotCanonical(_) => None,
            Self::Address(_) | Self::Field { field: EnvelopeField::Address, .. } => Some("bad_address"),
            Self::TsNotInteger | Self::Field { field: EnvelopeField::Ts, .. } => Some("bad_ts"),
            Self::TsStale { .. } => Some("stale_ts"),
            Self::Signature(_) | Self::TargetMismatch { .. } | Self::Field { field: EnvelopeField::Sig, .. } => {
                Some("bad_sig")
            }
            Self::Mismatch(_) => Some("sig_mismatch"),
        }
    }

    /// What the client can do next.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Json(error) => error.hint().to_owned(),
            Self::NotCanonical(_) => "send JSON as RFC 8785 describes it".to_owned(),
            Self::Field { field, error: FieldError::Duplicate } => format!("send `{field}` once"),
            Self::Field { field, .. } => {
                format!("send `{field}` with the request; a signed request carries address, ts and sig")
            }
            Self::Address(AddressError::Shape) => "send a 20-byte address, for example in lower case".to_owned(),
            Self::Address(AddressError::Checksum { expected }) => {
                format!("if no digit is wrong, send {expected} or all lower case")
            }
            Self::TsNotInteger => "use the current Unix time in whole seconds".to_owned(),
            Self::TsStale { ts_s, now_s } if *ts_s >= MILLISECONDS_FROM => {
                format!("ts looks like milliseconds; send seconds (now {now_s})")
            }
            Self::TsStale { now_s, .. } => {
                format!("the gateway's clock says {now_s}; set your clock and sign anew")
            }
            Self::Signature(error) => signature_hint(*error).to_owned(),
            Self::Mismatch(mismatch) => mismatch.hint(),
            Self::TargetMismatch { field } => {
                format!("sign the `{field}` that the URL names, or leave it out of the body")
            }
        }
    }
}

fn signature_hint(error: SignatureError) -> &'static str {
    match error {
        SignatureError::Shape => {
            "send the 65-byte form; the 64-byte compact form (EIP-2098) and wrapped forms (ERC-6492) are not taken"
        }
        SignatureError::V { .. } => {
            "send the recovery id as 27 or 28; forms with a chain id (EIP-155) are for transactions"
        }
        SignatureError::HighS => "send n - s instead of s and flip v; most libraries do so by themselves",
        SignatureError::OutOfRange { .. } | SignatureError::Unrecoverable => {
            "sign the message again with personal_sign (EIP-191)"
        }
    }
}

impl SignerMismatch {
    fn hint(&self) -> String {
        let shown: String = self.expected_body.chars().take(SHOWN_BODY_MAX_CHARS).collect();
        let more = if shown.len() < self.expected_body.len() { "…" } else { "" };
        format!(
            "personal_sign exactly {:?}; its last line is the sha256 of the {} bytes {shown}{more}",
            self.expected_message,
            self.expected_body.len(),
        )
    }
}
