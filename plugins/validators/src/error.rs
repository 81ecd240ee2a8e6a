//! Errors of the waitlist's routes: texts, statuses and codes.

use plugin_api::{ApiError, ErrorSpec};

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WaitlistError {
    #[error("address: 0x and 40 hex digits are needed, and not all of them zero")]
    Address,
    #[error("address: its capital letters are no valid checksum")]
    Checksum,
    #[error("platform: it is windows, linux or both")]
    Platform,
    #[error("seats: 1 to 10 are possible")]
    Seats,
    #[error("contact: an e-mail address, or a messaging handle of 5 to 32 letters, digits and underscores")]
    Contact,
    #[error("consent: a contact is kept only with consent")]
    Consent,
    #[error("nonce: 16 to 64 hex digits are needed")]
    Nonce,
    #[error("expires: a time in Unix seconds is needed")]
    Expires,
    #[error("expires: it lies too far ahead")]
    ExpiresTooLate,
    #[error("sig: 0x and 130 hex digits are needed")]
    SignatureShape,
    #[error("sig: a signature is needed")]
    NoSignature,
    #[error("sig: the challenge has expired")]
    Expired,
    #[error("sig: nobody signed this")]
    Unrecoverable,
    #[error("sig: somebody else than the address signed, or another text was signed")]
    Mismatch,
    #[error("this signature has been used")]
    Replay,
    #[error("the waitlist is full")]
    Full,
    #[error("format: it is json or csv")]
    Format,
    #[error("only operators of the waitlist may read it")]
    NotOperator,
    #[error("no operators of the waitlist are configured")]
    NoOperators,
}

const FIELD: &str = "correct the named field and ask for a new challenge";
const ANEW: &str = "GET /api/validators/waitlist/challenge with the same fields, sign its message, and send all of it within ten minutes";
const OPERATORS: &str = "the operator of this gateway names them in [plugins.validators] operators";

impl ApiError for WaitlistError {
    const SPECS: &'static [ErrorSpec] = &[
        ErrorSpec::new(400, "bad_address", FIELD),
        ErrorSpec::new(400, "bad_checksum", FIELD),
        ErrorSpec::new(400, "bad_platform", FIELD),
        ErrorSpec::new(400, "bad_seats", FIELD),
        ErrorSpec::new(400, "bad_contact", FIELD),
        ErrorSpec::new(400, "consent_required", FIELD),
        ErrorSpec::new(400, "bad_nonce", FIELD),
        ErrorSpec::new(400, "bad_expires", FIELD),
        ErrorSpec::new(400, "bad_sig", FIELD),
        ErrorSpec::new(400, "bad_format", "leave format out, or say json or csv"),
        ErrorSpec::new(401, "bad_expires", ANEW),
        ErrorSpec::new(401, "bad_sig", ANEW),
        ErrorSpec::new(401, "signature_required", ANEW),
        ErrorSpec::new(401, "sig_expired", ANEW),
        ErrorSpec::new(401, "sig_mismatch", ANEW),
        ErrorSpec::new(403, "not_operator", OPERATORS),
        ErrorSpec::new(409, "replay", ANEW),
        ErrorSpec::new(503, "disabled", OPERATORS),
        ErrorSpec::new(507, "waitlist_full", "come back when the operator has made room"),
    ];

    fn spec(&self) -> ErrorSpec {
        let (status, code) = match self {
            Self::Address => (400, "bad_address"),
            Self::Checksum => (400, "bad_checksum"),
            Self::Platform => (400, "bad_platform"),
            Self::Seats => (400, "bad_seats"),
            Self::Contact => (400, "bad_contact"),
            Self::Consent => (400, "consent_required"),
            Self::Nonce => (400, "bad_nonce"),
            Self::Expires => (400, "bad_expires"),
            Self::SignatureShape => (400, "bad_sig"),
            Self::Format => (400, "bad_format"),
            Self::ExpiresTooLate => (401, "bad_expires"),
            Self::Unrecoverable => (401, "bad_sig"),
            Self::NoSignature => (401, "signature_required"),
            Self::Expired => (401, "sig_expired"),
            Self::Mismatch => (401, "sig_mismatch"),
            Self::NotOperator => (403, "not_operator"),
            Self::Replay => (409, "replay"),
            Self::NoOperators => (503, "disabled"),
            Self::Full => (507, "waitlist_full"),
        };
        let listed = Self::SPECS.iter().find(|spec| spec.status == status && spec.code == code);
        listed.copied().unwrap_or(ErrorSpec::new(status, code, ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_is_listed_with_a_hint() {
        for error in
            [WaitlistError::Address, WaitlistError::ExpiresTooLate, WaitlistError::Full, WaitlistError::NoOperators]
        {
            assert!(!error.spec().hint.is_empty(), "{error}");
        }
    }
}
