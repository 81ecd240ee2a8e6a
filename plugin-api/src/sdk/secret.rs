//! Secrets that the gateway keeps: what a plugin seals and authenticates with them, without seeing a key. Needs the grant
//! `secrets`.
//!
//! Every plugin has its own secrets, by names that it chooses: what one plugin sealed, no other one opens. The gateway derives them
//! from its master keys. When the operator rotates these, the newest one seals and signs, and older ones go on opening.

use super::HostHandle;
use crate::{
    abi::{FfiBytes, HostError, HostErrorCode},
    manifest::{SealedKeyForm, SecretCall, SecretOperation},
};
use alloy_primitives::hex;
use serde::de::DeserializeOwned;

/// A secret of the plugin; made by [`HostHandle::secret`].
pub struct Secret<'h> {
    host: &'h HostHandle,
    name: String,
}

impl HostHandle {
    /// The plugin's secret of this name: 1 to 64 of a-z, 0-9 and _. It need not be created. Use one name for one purpose.
    ///
    /// Not in a constructor, and not in the closure of a write: seal before, and move the result into the closure.
    ///
    /// ```
    /// use plugin_api::{Address, HandlerError, HostHandle, Query, sql};
    ///
    /// /// A value that only its owner's rows can hold: moved to another row it does not open.
    /// async fn store_value(host: &HostHandle, owner: Address, value: &str) -> Result<(), HandlerError> {
    ///     let sealed = host.secret("values").seal(value, format!("value of {owner}")).await?;
    ///     host.write(async move |tx| {
    ///         tx.execute(sql("INSERT INTO notes_values (owner, sealed) VALUES ($1, $2)").bind((owner, &*sealed))).await
    ///     })
    ///     .await?;
    ///     Ok(())
    /// }
    ///
    /// /// A header that the receiver of a webhook checks; the key was stored with `seal_key` or `create_key`.
    /// async fn signature(host: &HostHandle, webhook: i64, sealed_key: &[u8], body: &[u8]) -> Result<String, HandlerError> {
    ///     let tag = host.secret("webhook_keys").hmac_with_key(sealed_key, format!("webhook {webhook}"), body).await?;
    ///     Ok(format!("sha256={}", tag.map(|byte| format!("{byte:02x}")).concat()))
    /// }
    /// ```
    pub fn secret(&self, name: &str) -> Secret<'_> {
        Secret { host: self, name: name.to_owned() }
    }
}

impl Secret<'_> {
    /// Encrypts and authenticates a text of up to 1 MiB (XChaCha20-Poly1305; 49 bytes are added). `associated_data`, 1 to 1024 bytes,
    /// names the record that it belongs to; it is not stored, and the same is needed to open it. Put the key of the row into it, so
    /// that nobody can move a sealed text to another row.
    pub async fn seal(&self, text: impl AsRef<[u8]>, associated_data: impl AsRef<[u8]>) -> Result<Vec<u8>, HostError> {
        self.bytes(SecretOperation::Seal { associated_data: hex::encode(associated_data) }, text.as_ref()).await
    }

    /// Opens what [`Self::seal`] sealed. What was changed, or sealed for something else, is a [`HostErrorCode::Invalid`]; what was
    /// sealed with a key that the gateway does not have, a [`HostErrorCode::Disabled`].
    pub async fn open(&self, sealed: &[u8], associated_data: impl AsRef<[u8]>) -> Result<Vec<u8>, HostError> {
        self.bytes(SecretOperation::Open { associated_data: hex::encode(associated_data) }, sealed).await
    }

    /// Seals a text or a key again when the operator has a newer master key; `None` when it is sealed with the newest. For a job
    /// that goes through the rows, so that the operator can remove the old master key.
    pub async fn reseal(&self, sealed: &[u8], associated_data: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>, HostError> {
        let operation = SecretOperation::Reseal { associated_data: hex::encode(associated_data) };
        let resealed = self.bytes(operation, sealed).await?;
        Ok((!resealed.is_empty()).then_some(resealed))
    }

    /// The HMAC-SHA256 of a message under this secret, with the newest master key: to authenticate it, or to store and find a name
    /// without its text. After a rotation the same message has another one: check with [`Self::verify_hmac`], find with
    /// [`Self::hmacs`].
    pub async fn hmac(&self, message: impl AsRef<[u8]>) -> Result<[u8; 32], HostError> {
        self.hmacs(message).await?.first().copied().ok_or_else(|| malformed("no tag"))
    }

    /// The HMACs of a message with each master key, the newest first: for a look-up that also finds what was stored before a
    /// rotation.
    pub async fn hmacs(&self, message: impl AsRef<[u8]>) -> Result<Vec<[u8; 32]>, HostError> {
        let tags = self.bytes(SecretOperation::Hmac, message.as_ref()).await?;
        tags.chunks(32).map(|tag| tag.try_into().map_err(malformed)).collect()
    }

    /// Whether this is the message's HMAC with one of the master keys. Takes the same time for each wrong tag.
    pub async fn verify_hmac(&self, message: impl AsRef<[u8]>, tag: &[u8]) -> Result<bool, HostError> {
        let answer = self.call(SecretOperation::VerifyHmac { tag: hex::encode(tag) }, message.as_ref()).await?;
        from_json(&answer.0)
    }

    /// Seals a key that a user chose for HMACs, 16 to 128 characters; after `whsec_` it is base64 of 24 to 64 bytes
    /// (else [`HostErrorCode::Invalid`]). No call opens it: it only makes HMACs.
    pub async fn seal_key(&self, text: &str, associated_data: impl AsRef<[u8]>) -> Result<Vec<u8>, HostError> {
        self.bytes(SecretOperation::SealKey { associated_data: hex::encode(associated_data) }, text.as_bytes()).await
    }

    /// A new key of 24 to 64 random bytes: its text, `whsec_` and base64, to be shown to its user once, and the sealed key to be
    /// stored.
    pub async fn create_key(
        &self,
        bytes: u32,
        associated_data: impl AsRef<[u8]>,
    ) -> Result<(String, Vec<u8>), HostError> {
        let operation = SecretOperation::CreateKey { associated_data: hex::encode(associated_data), bytes };
        let (text, sealed) = self.call(operation, &[]).await?;
        Ok((from_json(&text)?, sealed.to_vec()))
    }

    /// The HMAC-SHA256 of a message under a sealed key; the key is the text itself, `whsec_` included.
    pub async fn hmac_with_key(
        &self,
        sealed_key: &[u8],
        associated_data: impl AsRef<[u8]>,
        message: impl AsRef<[u8]>,
    ) -> Result<[u8; 32], HostError> {
        self.hmac_in_form(SealedKeyForm::Text, sealed_key, associated_data.as_ref(), message.as_ref()).await
    }

    /// As [`Self::hmac_with_key`], by Standard Webhooks: of a key that begins with `whsec_`, what follows is decoded.
    pub async fn standard_webhooks_hmac(
        &self,
        sealed_key: &[u8],
        associated_data: impl AsRef<[u8]>,
        message: impl AsRef<[u8]>,
    ) -> Result<[u8; 32], HostError> {
        self.hmac_in_form(SealedKeyForm::StandardWebhooks, sealed_key, associated_data.as_ref(), message.as_ref()).await
    }

    /// [`Self::hmac_with_key`] of a body and [`Self::standard_webhooks_hmac`] of the message that ends with it, from its byte `body_from`
    /// on: for a delivery with both, whose key is opened once.
    pub async fn webhook_tags(
        &self,
        sealed_key: &[u8],
        associated_data: impl AsRef<[u8]>,
        message: &[u8],
        body_from: usize,
    ) -> Result<[[u8; 32]; 2], HostError> {
        let (associated_data, sealed) = (hex::encode(associated_data), hex::encode(sealed_key));
        let tags = self.bytes(SecretOperation::WebhookTags { associated_data, sealed, body_from }, message).await?;
        match tags.as_chunks() {
            ([body, message], []) => Ok([*body, *message]),
            _ => Err(malformed("two tags are expected")),
        }
    }

    /// A new Ed25519 key: its public key, and the sealed key to be stored. No call opens it: it only signs, for everyone who reads
    /// the public key, and goes on doing so after a rotation of the master keys when it was [resealed](Self::reseal).
    pub async fn create_signing_key(
        &self,
        associated_data: impl AsRef<[u8]>,
    ) -> Result<([u8; 32], Vec<u8>), HostError> {
        let operation = SecretOperation::CreateSigningKey { associated_data: hex::encode(associated_data) };
        let (public_key, sealed) = self.call(operation, &[]).await?;
        let digits: String = from_json(&public_key)?;
        Ok((hex::decode_to_array(digits).map_err(malformed)?, sealed.to_vec()))
    }

    /// The Ed25519 signature of a message by a sealed key.
    pub async fn sign(
        &self,
        sealed_key: &[u8],
        associated_data: impl AsRef<[u8]>,
        message: impl AsRef<[u8]>,
    ) -> Result<[u8; 64], HostError> {
        let (associated_data, sealed) = (hex::encode(associated_data), hex::encode(sealed_key));
        let signature = self.bytes(SecretOperation::Sign { associated_data, sealed }, message.as_ref()).await?;
        signature.as_slice().try_into().map_err(malformed)
    }

    async fn hmac_in_form(
        &self,
        form: SealedKeyForm,
        sealed_key: &[u8],
        associated_data: &[u8],
        message: &[u8],
    ) -> Result<[u8; 32], HostError> {
        let (associated_data, sealed) = (hex::encode(associated_data), hex::encode(sealed_key));
        let tag = self.bytes(SecretOperation::HmacWithKey { associated_data, sealed, form }, message).await?;
        tag.as_slice().try_into().map_err(malformed)
    }

    async fn bytes(&self, operation: SecretOperation, body: &[u8]) -> Result<Vec<u8>, HostError> {
        Ok(self.call(operation, body).await?.1.to_vec())
    }

    /// The response as JSON, and as bytes.
    async fn call(&self, operation: SecretOperation, body: &[u8]) -> Result<(FfiBytes, FfiBytes), HostError> {
        let call = SecretCall { secret: self.name.clone(), operation };
        let response = self.host.call_capability("secret", &call, body.to_vec().into()).await?;
        Ok((response.response, response.body))
    }
}

fn from_json<T: DeserializeOwned>(json: &[u8]) -> Result<T, HostError> {
    serde_json::from_slice(json).map_err(malformed)
}

fn malformed(error: impl ToString) -> HostError {
    HostError::new(HostErrorCode::Internal, error.to_string())
}
