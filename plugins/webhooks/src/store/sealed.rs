//! Secrets of webhooks: sealed by the gateway, which alone makes signatures with them.
//!
//! The rule: sealing and signing happen outside of transactions, and the associated data names owner and URL, so that no secret
//! signs for another webhook.

use crate::{error::WebhookError, model::Tags};
use plugin_api::{Address, HandlerError, HostError, HostErrorCode, HostHandle};

const SECRETS: &str = "secrets";
/// Tells the master keys apart.
const KEYS: &str = "keys";
/// Two secrets that authenticate it alike are the same.
const PROBE: &[u8] = b"is it the same secret";

/// Names the master key that seals now. Another one has another name.
pub async fn key_id(host: &HostHandle) -> Result<String, HostError> {
    let tag = host.secret(KEYS).hmac("which key seals").await?;
    Ok(hex::encode(tag.first_chunk::<8>().unwrap_or(&[0; 8])))
}

pub async fn seal(
    host: &HostHandle,
    owner: Address,
    url: &str,
    secret: &str,
) -> Result<Vec<u8>, HandlerError<WebhookError>> {
    host.secret(SECRETS).seal_key(secret, of_webhook(owner, url)).await.map_err(|error| {
        if error.is(HostErrorCode::Invalid) {
            WebhookError::Secret(error.message.to_string()).into()
        } else {
            error.into()
        }
    })
}

/// `None` when the newest key sealed it.
pub async fn reseal(host: &HostHandle, owner: Address, url: &str, sealed: &[u8]) -> Result<Option<Vec<u8>>, HostError> {
    host.secret(SECRETS).reseal(sealed, of_webhook(owner, url)).await
}

/// What the secret of before is to a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldSecret {
    /// The same text.
    Same,
    /// It goes on signing for a while.
    Other,
    /// It does not open, so it signs no more.
    Unusable,
}

/// Whether a call failed because the secret does not open: its key is missing, or it was changed.
pub fn does_not_open(error: &HostError) -> bool {
    error.is(HostErrorCode::Invalid) || error.is(HostErrorCode::Disabled)
}

/// Compares the sealed secret of before with a new one of the same webhook.
pub async fn compare(
    host: &HostHandle,
    owner: Address,
    url: &str,
    old: &[u8],
    new: &[u8],
) -> Result<OldSecret, HostError> {
    let signer = Signer { host, owner, url };
    let old = match signer.body_tag(old, PROBE).await {
        Ok(tag) => tag,
        Err(error) if does_not_open(&error) => return Ok(OldSecret::Unusable),
        Err(error) => return Err(error),
    };
    Ok(if old == signer.body_tag(new, PROBE).await? { OldSecret::Same } else { OldSecret::Other })
}

/// Signs for one webhook.
pub struct Signer<'a> {
    pub host: &'a HostHandle,
    pub owner: Address,
    pub url: &'a str,
}

impl Signer<'_> {
    /// Keyed by the text of the secret.
    pub async fn body_tag(&self, sealed: &[u8], body: &[u8]) -> Result<[u8; 32], HostError> {
        self.host.secret(SECRETS).hmac_with_key(sealed, of_webhook(self.owner, self.url), body).await
    }

    /// That of the body with which a message ends, and one of the message, keyed as Standard Webhooks says: by the bytes after `whsec_`.
    pub async fn tags(&self, sealed: &[u8], message: &[u8], body_from: usize) -> Result<Tags, HostError> {
        let record = of_webhook(self.owner, self.url);
        let [body, message] = self.host.secret(SECRETS).webhook_tags(sealed, record, message, body_from).await?;
        Ok(Tags { body, message })
    }
}

fn of_webhook(owner: Address, url: &str) -> String {
    format!("webhook {owner} {url}")
}
