//! Errors of the waitlist's routes: texts, statuses and codes.

use plugin_api::ApiError;

const FIELD: &str = "correct the named field and ask for a new challenge";
const CHALLENGE: &str = "GET /api/validators/waitlist/challenge with the same fields, sign its message, and send all of it within ten minutes";
const OPERATORS: &str = "the operator of this gateway names them in [plugins.validators] operators";

// The document of the interface lists the codes of a status in the order of the variants.
#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum WaitlistError {
    #[api(400, "bad_address", "address: 0x and 40 hex digits are needed, and not all of them zero", hint = FIELD)]
    Address,
    #[api(400, "bad_checksum", "address: its capital letters are no valid checksum", hint = FIELD)]
    Checksum,
    #[api(400, "bad_platform", "platform: it is windows, linux or both", hint = FIELD)]
    Platform,
    #[api(400, "bad_seats", "seats: 1 to 10 are possible", hint = FIELD)]
    Seats,
    #[api(
        400,
        "bad_contact",
        "contact: an e-mail address, or a messaging handle of 5 to 32 letters, digits and underscores",
        hint = FIELD
    )]
    Contact,
    #[api(400, "consent_required", "consent: a contact is kept only with consent", hint = FIELD)]
    Consent,
    #[api(400, "bad_nonce", "nonce: 16 to 64 hex digits are needed", hint = FIELD)]
    Nonce,
    #[api(400, "bad_expires", "expires: a time in Unix seconds is needed", hint = FIELD)]
    Expires,
    #[api(401, "bad_expires", "expires: it lies too far ahead", hint = CHALLENGE)]
    ExpiresTooLate,
    #[api(400, "bad_sig", "sig: 0x and 130 hex digits are needed", hint = FIELD)]
    SignatureShape,
    #[api(401, "bad_sig", "sig: nobody signed this", hint = CHALLENGE)]
    Unrecoverable,
    #[api(401, "signature_required", "sig: a signature is needed", hint = CHALLENGE)]
    NoSignature,
    #[api(401, "sig_expired", "sig: the challenge has expired", hint = CHALLENGE)]
    Expired,
    #[api(
        401,
        "sig_mismatch",
        "sig: somebody else than the address signed, or another text was signed",
        hint = CHALLENGE
    )]
    Mismatch,
    #[api(409, "replay", "this signature has been used", hint = CHALLENGE)]
    Replay,
    #[api(429, "rate_limited", "one write per second and address", hint = "send the same request again after a second")]
    TooSoon,
    #[api(
        429,
        "ip_rate_limited",
        "too many new entries come from this address",
        hint = "wait as long as the header Retry-After says"
    )]
    TooMany,
    #[api(507, "waitlist_full", "the waitlist is full", hint = "come back when the operator has made room")]
    Full,
    #[api(400, "bad_format", "format: it is json or csv", hint = "leave format out, or say json or csv")]
    Format,
    #[api(403, "not_operator", "only operators of the waitlist may read it", hint = OPERATORS)]
    NotOperator,
    #[api(503, "disabled", "no operators of the waitlist are configured", hint = OPERATORS)]
    NoOperators,
}
