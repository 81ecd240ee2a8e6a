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

/// Whether two sealed secrets of a webhook are the same text.
pub async fn are_equal(host: &HostHandle, owner: Address, url: &str, sealed: [&[u8]; 2]) -> Result<bool, HostError> {
    let [one, other] = sealed;
    let signer = Signer { host, owner, url };
    Ok(signer.body_tag(one, PROBE).await? == signer.body_tag(other, PROBE).await?)
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
