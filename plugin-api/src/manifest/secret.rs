//! Requests of the capability `secret`. Texts, sealed texts and messages are passed separately, as raw bytes; other bytes are
//! hexadecimal digits.

use serde::{Deserialize, Serialize};

/// A call of one of the plugin's secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretCall {
    /// Its name: 1 to 64 of a-z, 0-9 and _.
    pub secret: String,
    pub operation: SecretOperation,
}

/// What is done with the secret. `associated_data`: 1 to 1024 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretOperation {
    /// A text in, sealed out.
    Seal { associated_data: String },
    /// A sealed text in, the text out.
    Open { associated_data: String },
    /// A sealed text or key in; out the same under the newest key, or nothing when it is already.
    Reseal { associated_data: String },
    /// A message in; out a tag of 32 bytes for each master key, the newest first.
    Hmac,
    /// A message in; the response is whether one of the master keys made this tag.
    VerifyHmac { tag: String },
    /// A text that serves as a key in, sealed out.
    SealKey { associated_data: String },
    /// Out a new sealed key; the response is its text.
    CreateKey { associated_data: String, bytes: u32 },
    /// A message in, its tag under the sealed key out.
    HmacWithKey { associated_data: String, sealed: String, form: SealedKeyForm },
    /// A message in; out two tags of 32 bytes: of its body, which begins after so many bytes, under the key as [`SealedKeyForm::Text`], and
    /// of the whole under the key as [`SealedKeyForm::StandardWebhooks`].
    WebhookTags { associated_data: String, sealed: String, body_from: usize },
    /// Out a new sealed Ed25519 key; the response is its public key.
    CreateSigningKey { associated_data: String },
    /// A message in, its Ed25519 signature by the sealed key out.
    Sign { associated_data: String, sealed: String },
}

/// How the text of a sealed key is a key for HMAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SealedKeyForm {
    /// As it is.
    Text,
    /// As Standard Webhooks says: what follows `whsec_` is the key in base64; any other text as it is.
    StandardWebhooks,
}
