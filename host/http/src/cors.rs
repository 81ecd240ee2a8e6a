//! CORS on answers: any page may read them, without credentials. Rule: on every answer, errors and streams included; a
//! browser hides an error that lacks the header.

use super::stage::Stage;
use crate::body::{Body, RequestBody};
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS};
use http::{HeaderName, HeaderValue, Request, Response};
use std::ops::ControlFlow;

/// What a page may read besides the few headers that every page may.
const EXPOSED: [&str; 8] = [
    "PAYMENT-REQUIRED",
    "PAYMENT-RESPONSE",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "ETag",
    "Location",
    "X-Request-Id",
];

/// The gateway's own answer headers, behind the brand's prefix.
const EXPOSED_OF_BRAND: [&str; 7] =
    ["Signer", "Merkle-Root", "Signed", "Claims-Root", "Document-Hash", "Degraded", "Payment-Released"];

#[derive(Clone)]
pub struct Cors {
    /// None: switched off.
    exposed: Option<HeaderValue>,
}

impl Cors {
    /// None: the prefix cannot begin the name of a header.
    pub fn new(enabled: bool, header_prefix: &str) -> Option<Self> {
        HeaderName::from_bytes(format!("{header_prefix}-x").as_bytes()).ok()?;
        let branded = EXPOSED_OF_BRAND.iter().map(|suffix| format!("{header_prefix}-{suffix}"));
        let names: Vec<_> = EXPOSED.iter().map(|name| (*name).to_owned()).chain(branded).collect();
        let exposed = HeaderValue::try_from(names.join(", ")).ok()?;
        Some(Self { exposed: enabled.then_some(exposed) })
    }
}

impl Stage for Cors {
    type Note = ();

    fn admit(&self, _: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, ()> {
        ControlFlow::Continue(())
    }

    fn finish(&self, (): (), response: &mut Response<Body>) {
        if let Some(exposed) = &self.exposed {
            let headers = response.headers_mut();
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed.clone());
        }
    }
}
