//! The text that a wallet signs to sign up.
//!
//! The rule: it contains every field, so that a signature is valid for these fields only. The server rebuilds it from the fields
//! of the request.

use super::Fields;
use crate::error::WaitlistError;
use plugin_api::{JsonSchema, handles::Environment};
use serde::Deserialize;

/// Lifetime of a challenge.
pub const CHALLENGE_S: i64 = 600;
/// Tolerance for differing clocks.
const SLACK_S: i64 = 60;

/// What a body has besides the fields.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Challenge {
    /// 16 to 64 hex digits, as the challenge had it.
    #[serde(deserialize_with = "super::fields::text")]
    nonce: Option<String>,
    /// Unix seconds, as the challenge had it.
    #[serde(deserialize_with = "super::fields::text")]
    expires: Option<String>,
    /// The address's EIP-191 signature over the challenge's message.
    #[serde(deserialize_with = "super::fields::text")]
    sig: Option<String>,
}

/// A challenge that the client responded to: the signed text is rebuilt, the signer is not checked yet.
pub struct SignedChallenge {
    pub message: String,
    pub signature: String,
}

impl Challenge {
    /// Rebuilds the signed text; `None` when there is no signature and none is required.
    pub fn check(
        &self,
        fields: &Fields,
        environment: &Environment,
        (now_s, is_required): (i64, bool),
    ) -> Result<Option<SignedChallenge>, WaitlistError> {
        let Some(signature) = self.sig.as_deref().map(str::trim).filter(|text| !text.is_empty()) else {
            return if is_required { Err(WaitlistError::NoSignature) } else { Ok(None) };
        };
        let nonce = self.nonce.as_deref().map(|text| text.trim().to_ascii_lowercase()).unwrap_or_default();
        if !(16..=64).contains(&nonce.len()) || !nonce.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(WaitlistError::Nonce);
        }
        let expires: i64 = self.expires.as_deref().and_then(|text| text.parse().ok()).ok_or(WaitlistError::Expires)?;
        if !is_signature(signature) {
            return Err(WaitlistError::SignatureShape);
        }
        if expires <= now_s {
            return Err(WaitlistError::Expired);
        }
        if expires > now_s + CHALLENGE_S + SLACK_S {
            return Err(WaitlistError::ExpiresTooLate);
        }
        let message = message(fields, environment, &nonce, expires);
        Ok(Some(SignedChallenge { message, signature: signature.to_ascii_lowercase() }))
    }
}

fn is_signature(text: &str) -> bool {
    text.strip_prefix("0x")
        .is_some_and(|digits| digits.len() == 130 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

pub fn message(fields: &Fields, environment: &Environment, nonce: &str, expires: i64) -> String {
    let Fields { address, platform, seats, contact, consent } = fields;
    let base_url = environment.base_url.as_str();
    let authority = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    let site = authority.split('/').next().unwrap_or_default();
    [
        format!("{} validator waitlist", environment.brand.network_name),
        "This signature puts the address on the waitlist. It moves no funds and allows nothing else.".to_owned(),
        format!("site: {site}"),
        format!("address: {address}"),
        format!("platform: {}", platform.name()),
        format!("seats: {seats}"),
        format!("contact: {}", contact.as_ref().map_or("none", |contact| contact.text.as_str())),
        format!("consent: {}", if *consent { "yes" } else { "no" }),
        format!("nonce: {nonce}"),
        format!("expires: {expires}"),
    ]
    .join("\n")
}
