//! The response headers that the script of any page may read (CORS). Rule: a browser gets the list with every response,
//! errors and streams included, because it hides them otherwise.

use http::{HeaderName, HeaderValue};

/// Headers that a browser does not expose by itself.
const EXPOSED: [&str; 10] = [
    "PAYMENT-REQUIRED",
    "PAYMENT-RESPONSE",
    // Clients of the first version of x402 read it under this name.
    "X-PAYMENT-RESPONSE",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "ETag",
    "Link",
    "Location",
    "X-Request-Id",
];

/// The gateway's own response headers, without the brand's prefix.
const EXPOSED_WITH_PREFIX: [&str; 8] =
    ["Signer", "Merkle-Root", "Signed", "Claims-Root", "Document-Hash", "Degraded", "Payment-Released", "Position"];

/// The value of `access-control-expose-headers`.
#[derive(Clone)]
pub(crate) struct ExposedHeaders(pub HeaderValue);

impl ExposedHeaders {
    /// Returns None if no header name can start with the prefix.
    pub(crate) fn new(header_prefix: &str) -> Option<Self> {
        HeaderName::from_bytes(format!("{header_prefix}-x").as_bytes()).ok()?;
        let prefixed = EXPOSED_WITH_PREFIX.iter().map(|suffix| format!("{header_prefix}-{suffix}"));
        let names: Vec<_> = EXPOSED.iter().map(|name| (*name).to_owned()).chain(prefixed).collect();
        HeaderValue::try_from(names.join(", ")).ok().map(Self)
    }
}
