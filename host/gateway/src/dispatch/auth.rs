//! Authenticates the caller: checks the signature before the plugin sees anything of the request.

use crate::{error_response::ErrorResponse, routes::Route};
use alloy_primitives::hex;
use arc_swap::ArcSwap;
use bytes::Bytes;
use gateway_clock::Clock;
use gateway_config::Config;
use gateway_envelope::{self as envelope, Brand, SignedRequest};
use gateway_plugins::{IntervalClock, SignedWriteRecord};
use http::request::Parts;
use plugin_api::manifest::Auth;
use std::sync::Arc;

/// Larger bodies are verified on blocking threads: canonical JSON of a hostile body takes milliseconds.
pub(crate) const INLINE_BYTES: usize = 32 * 1024;

/// Who sent the request, if it is signed, and the body that the signature covers.
#[derive(Debug)]
pub struct Caller {
    /// The signer's checksummed address.
    pub signer: Option<String>,
    /// The signature and the write interval, which the commit of the write uses up.
    pub guard: Option<Arc<SignedWriteRecord>>,
    /// The body as the handler gets it: for a signed body, the canonical JSON of the signed payload.
    pub body: Bytes,
}

/// Checks the signatures of requests.
pub struct EnvelopeVerifier {
    pub brand: Brand,
    pub clock: Clock,
    /// With the time between two writes of one address.
    pub config: Arc<ArcSwap<Config>>,
    pub interval_clock: IntervalClock,
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
            }
            Auth::SignedQuery { action } => {
                envelope::verify_signed_query(&self.brand, action, parts.uri.query().unwrap_or_default(), now_s)
            }
        }
        .and_then(|signed| check_target(route, params, &signed).map(|()| signed))
        .map_err(refused)?;
        let signer = signed.signer.to_checksum(None);
        let guard = route.auth.is_guarded().then(|| Arc::new(self.guard(&signed, &signer)));
        let is_body = matches!(route.auth, Auth::SignedBody { .. });
        let body = if is_body || signed.has_payload() { Bytes::from(signed.into_payload()) } else { Bytes::new() };
        Ok(Caller { signer: Some(signer), guard, body })
    }

    fn guard(&self, signed: &SignedRequest, signer: &str) -> SignedWriteRecord {
        let window_s = i64::try_from(envelope::TS_WINDOW_S).unwrap_or(i64::MAX);
        let now_ms = self.clock.now_ms();
        SignedWriteRecord {
            signer: signer.to_owned(),
            digest: hex::encode(signed.digest),
            now_ms,
            interval_ms: i64::try_from(self.config.load().limits.write_interval_ms).unwrap_or(i64::MAX),
            interval_clock: self.interval_clock,
            // The message is fresh for one window after its time; one more for clocks that differ between replicas.
            remember_until_s: i64::try_from(signed.ts_s).unwrap_or(i64::MAX).saturating_add(2 * window_s),
        }
    }
}

/// A target that the payload names must be the one of the path: else a captured signature would be good for any.
fn check_target(route: &Route, params: &[String], signed: &SignedRequest) -> Result<(), envelope::EnvelopeError> {
    let named = route.target_members.iter().filter_map(|member| Some((&member.name, params.get(member.position)?)));
    for (name, value) in named {
        signed.check_target(name, value)?;
    }
    Ok(())
}

fn refused(refusal: envelope::EnvelopeError) -> ErrorResponse {
    let status = refusal.status().as_u16();
    ErrorResponse::new(status, refusal.code().unwrap_or("bad_request"), refusal.to_string(), &refusal.hint())
}
