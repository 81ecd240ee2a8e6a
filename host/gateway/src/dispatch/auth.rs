//! Authenticates the caller: checks the signature before the plugin sees anything of the request.

use crate::{error_response::ErrorResponse, routes::Route};
use alloy_primitives::hex;
use bytes::Bytes;
use gateway_clock::Clock;
use gateway_envelope::{self as envelope, Brand, SignedRequest};
use gateway_plugins::WriteGuard;
use http::{Method, request::Parts};
use plugin_api::manifest::Auth;

/// Larger bodies are verified on blocking threads: canonical JSON of a hostile body takes milliseconds.
pub const INLINE_BYTES: usize = 32 * 1024;

/// Who sent the request, if it is signed, and the body that the signature covers.
#[derive(Debug)]
pub struct Caller {
    /// The signer's checksummed address.
    pub signer: Option<String>,
    /// The signature and the write interval, which the commit of the write uses up.
    pub guard: Option<WriteGuard>,
    /// The body as the handler gets it: for a signed body, the canonical JSON of the signed payload.
    pub body: Bytes,
}

/// Checks the signatures of requests.
pub struct EnvelopeVerifier {
    pub brand: Brand,
    pub clock: Clock,
    /// Between two writes of one address.
    pub write_interval_ms: u64,
}

impl EnvelopeVerifier {
    pub fn authenticate(
        &self,
        route: &Route,
        parts: &Parts,
        params: &[String],
        body: Bytes,
    ) -> Result<Caller, ErrorResponse> {
        let now_s = u64::try_from(self.clock.now_s()).unwrap_or_default();
        let signed = match &route.auth {
            Auth::Public | Auth::Own { .. } => return Ok(Caller { signer: None, guard: None, body }),
            Auth::SignedBody { action } => envelope::verify_signed_body(&self.brand, action, &body, now_s),
            Auth::SignedHeaders { action, .. } => {
                envelope::verify_signed_headers(&self.brand, action, &parts.headers, parts.uri.query(), &body, now_s)
                    .and_then(|signed| bind_target(route, parts, params, &signed).map(|()| signed))
            }
            Auth::SignedQuery { action } => {
                envelope::verify_signed_query(&self.brand, action, parts.uri.query().unwrap_or_default(), now_s)
            }
        }
        .map_err(refused)?;
        let guard = route.auth.is_guarded().then(|| self.guard(&signed));
        let carries_payload = signed.payload.as_object().is_some_and(|payload| !payload.is_empty());
        let is_body = matches!(route.auth, Auth::SignedBody { .. });
        let body = if carries_payload || is_body { Bytes::from(signed.canonical.into_owned()) } else { Bytes::new() };
        Ok(Caller { signer: Some(signed.signer.to_checksum(None)), guard, body })
    }

    fn guard(&self, signed: &SignedRequest) -> WriteGuard {
        let window_s = i64::try_from(envelope::TS_WINDOW_S).unwrap_or(i64::MAX);
        let now_ms = self.clock.now_ms();
        WriteGuard {
            signer: signed.signer.to_checksum(None),
            digest: hex::encode(signed.digest),
            now_ms,
            interval_ms: i64::try_from(self.write_interval_ms).unwrap_or(i64::MAX),
            // A message from the future stays fresh for two windows; one more for clocks that differ between replicas.
            remember_until_s: now_ms / 1000 + 3 * window_s,
        }
    }
}

/// A DELETE whose payload names a target must name the one of the URL.
fn bind_target(
    route: &Route,
    parts: &Parts,
    params: &[String],
    signed: &SignedRequest,
) -> Result<(), envelope::EnvelopeError> {
    if parts.method != Method::DELETE {
        return Ok(());
    }
    let names = route.spec.path.split(['{', '}']).skip(1).step_by(2);
    for (name, value) in names.zip(params) {
        match name {
            "key" => signed.check_target("key", value)?,
            "id" => signed.check_target("id", value)?,
            _ => {}
        }
    }
    Ok(())
}

fn refused(refusal: envelope::EnvelopeError) -> ErrorResponse {
    let status = refusal.status().as_u16();
    ErrorResponse::new(status, refusal.code().unwrap_or("bad_request"), refusal.to_string(), &refusal.hint())
}
