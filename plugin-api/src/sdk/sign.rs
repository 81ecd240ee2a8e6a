//! Signatures with the gateway's keys, by role. A role must be among the grants (`signer_roles`).
//!
//! A role without a key is a [`HostErrorCode::Disabled`]: a handler that returns it with `?` responds 503 `disabled` with
//! the reason. Keys stay in the gateway; no plugin gets one.

use super::{Address, Hash256, HostHandle};
use crate::{
    abi::{FfiBytes, HostError, HostErrorCode},
    manifest::{SignCall, Signable},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use crate::manifest::SignResult;

/// A key of the gateway; made by [`HostHandle::signer`].
pub struct Signer<'h> {
    host: &'h HostHandle,
    role: String,
}

impl HostHandle {
    /// The key of a role: `gateway`, `facilitator`, `relayer`, `growth`, `payin`, `oracle` or `log`.
    pub fn signer(&self, role: &str) -> Signer<'_> {
        Signer { host: self, role: role.to_owned() }
    }

    /// The signer of this text by EIP-191. A malformed signature is a [`HostErrorCode::Invalid`].
    pub async fn recover_text(&self, text: &str, signature: &str) -> Result<Address, HostError> {
        self.recover(Signable::Text(text.to_owned()), signature).await
    }

    /// The signer of this EIP-712 document.
    pub async fn recover_typed_data(&self, document: Value, signature: &str) -> Result<Address, HostError> {
        self.recover(Signable::TypedData(document), signature).await
    }

    /// The signer of the document with this hash: EIP-712's, for example, which a plugin with one type computes faster itself.
    pub async fn recover_digest(&self, digest: Hash256, signature: &str) -> Result<Address, HostError> {
        self.call_signer(SignCall::RecoverDigest { digest, signature: signature.to_owned() }).await
    }

    async fn recover(&self, what: Signable, signature: &str) -> Result<Address, HostError> {
        self.call_signer(SignCall::Recover { what, signature: signature.to_owned() }).await
    }

    async fn call_signer<T: DeserializeOwned>(&self, request: SignCall) -> Result<T, HostError> {
        let response = self.call_capability("sign", &request, FfiBytes::default()).await?;
        serde_json::from_slice(&response.response)
            .map_err(|error| HostError::new(HostErrorCode::Internal, error.to_string()))
    }
}

impl Signer<'_> {
    /// The address of the key.
    pub async fn address(&self) -> Result<Address, HostError> {
        self.host.call_signer(SignCall::Address { role: self.role.clone() }).await
    }

    /// The same; `None` when the role has no key.
    pub async fn configured_address(&self) -> Result<Option<Address>, HostError> {
        match self.address().await {
            Ok(address) => Ok(Some(address)),
            Err(error) if error.is(HostErrorCode::Disabled) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Signs a text by EIP-191, as wallets do with `personal_sign`.
    pub async fn sign_text(&self, text: &str) -> Result<SignResult, HostError> {
        self.sign(Signable::Text(text.to_owned())).await
    }

    /// Signs bytes by EIP-191, for example a 32-byte hash for a contract that applies the same prefix.
    pub async fn sign_bytes(&self, bytes: &[u8]) -> Result<SignResult, HostError> {
        self.sign(Signable::Bytes(alloy_primitives::hex::encode_prefixed(bytes))).await
    }

    /// Signs an EIP-712 document: `{types, primaryType, domain, message}`, integers as numbers or decimal strings. One that
    /// does not fit its types is a [`HostErrorCode::Invalid`].
    pub async fn sign_typed_data(&self, document: Value) -> Result<SignResult, HostError> {
        self.sign(Signable::TypedData(document)).await
    }

    async fn sign(&self, what: Signable) -> Result<SignResult, HostError> {
        self.host.call_signer(SignCall::Sign { role: self.role.clone(), what }).await
    }
}
