//! Errors of the waitlist's routes: texts, statuses and codes.

use plugin_api::ApiError;

const FIELD: &str = "correct the named field and ask for a new challenge";
const CHALLENGE: &str = "GET /api/validators/waitlist/challenge with the same fields, sign its message, and send all of it within ten minutes";
const OPERATORS: &str = "the operator of this gateway names them in [plugins.validators] operators";

// The document of the interface lists the codes of a status in the order of the variants.
#[derive(Debug, PartialEq, Eq, thiserror::Error, ApiError)]
pub enum WaitlistError {
    #[error("address: 0x and 40 hex digits are needed, and not all of them zero")]
    #[api(400, "bad_address", hint = FIELD)]
    Address,
    #[error("address: its capital letters are no valid checksum")]
    #[api(400, "bad_checksum", hint = FIELD)]
    Checksum,
    #[error("platform: it is windows, linux or both")]
    #[api(400, "bad_platform", hint = FIELD)]
    Platform,
    #[error("seats: 1 to 10 are possible")]
    #[api(400, "bad_seats", hint = FIELD)]
    Seats,
    #[error("contact: an e-mail address, or a messaging handle of 5 to 32 letters, digits and underscores")]
    #[api(400, "bad_contact", hint = FIELD)]
    Contact,
    #[error("consent: a contact is kept only with consent")]
    #[api(400, "consent_required", hint = FIELD)]
    Consent,
    #[error("nonce: 16 to 64 hex digits are needed")]
    #[api(400, "bad_nonce", hint = FIELD)]
    Nonce,
    #[error("expires: a time in Unix seconds is needed")]
    #[api(400, "bad_expires", hint = FIELD)]
    Expires,
    #[error("expires: it lies too far ahead")]
    #[api(401, "bad_expires", hint = CHALLENGE)]
    ExpiresTooLate,
    #[error("sig: 0x and 130 hex digits are needed")]
    #[api(400, "bad_sig", hint = FIELD)]
    SignatureShape,
    #[error("sig: nobody signed this")]
    #[api(401, "bad_sig", hint = CHALLENGE)]
    Unrecoverable,
    #[error("sig: a signature is needed")]
    #[api(401, "signature_required", hint = CHALLENGE)]
    NoSignature,
    #[error("sig: the challenge has expired")]
    #[api(401, "sig_expired", hint = CHALLENGE)]
    Expired,
    #[error("sig: somebody else than the address signed, or another text was signed")]
    #[api(401, "sig_mismatch", hint = CHALLENGE)]
    Mismatch,
    #[error("this signature has been used")]
    #[api(409, "replay", hint = CHALLENGE)]
    Replay,
    #[error("one write per second and address")]
    #[api(429, "rate_limited", hint = "send the same request again after a second")]
    TooSoon,
    #[error("too many new entries come from this address")]
    #[api(429, "ip_rate_limited", hint = "wait as long as the header Retry-After says")]
    TooMany,
    #[error("the waitlist is full")]
    #[api(507, "waitlist_full", hint = "come back when the operator has made room")]
    Full,
    #[error("format: it is json or csv")]
    #[api(400, "bad_format", hint = "leave format out, or say json or csv")]
    Format,
    #[error("only operators of the waitlist may read it")]
    #[api(403, "not_operator", hint = OPERATORS)]
    NotOperator,
    #[error("no operators of the waitlist are configured")]
    #[api(503, "disabled", hint = OPERATORS)]
    NoOperators,
}
