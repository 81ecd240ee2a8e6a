//! Calls of plugins to the keys. The rule: a plugin cannot have a transaction signed here; transactions go through the
//! journal (`gateway-tx`).

use super::signers::{MissingKey, Signers};
use alloy_dyn_abi::TypedData;
use alloy_primitives::{Address, B256, Signature, eip191_hash_message, hex};
use plugin_api::{
    abi::{HostError, HostErrorCode},
    host::decode_call,
    manifest::{SignCall, SignResult, Signable},
};
use serde_json::{Value, json};

impl Signers {
    /// Handles a plugin's request; `granted` are the roles that it may sign with.
    pub fn call(&self, granted: &[String], request: &[u8]) -> Result<Value, HostError> {
        let request: SignCall = decode_call("a call of a key", request)?;
        match request {
            SignCall::Address { role } => {
                check_grant(granted, &role)?;
                Ok(json!(plugin_api::Address(self.key(&role)?.address().into_array())))
            }
            SignCall::Sign { role, what } => {
                check_grant(granted, &role)?;
                let signed = self.sign(&role, &digest(what)?)?;
                Ok(json!(signed))
            }
            SignCall::Recover { what, signature } => {
                let signer = recover(&digest(what)?, &signature)?;
                Ok(json!(plugin_api::Address(signer.into_array())))
            }
            SignCall::RecoverDigest { digest, signature } => {
                let signer = recover(&digest.0.into(), &signature)?;
                Ok(json!(plugin_api::Address(signer.into_array())))
            }
        }
    }

    fn sign(&self, role: &str, digest: &B256) -> Result<SignResult, HostError> {
        let key = self.key(role)?;
        let signature = key.sign_hash(digest);
        let signature =
            signature.map_err(|error| HostError::new(HostErrorCode::Internal, format!("not signed: {error}")))?;
        Ok(SignResult {
            address: plugin_api::Address(key.address().into_array()),
            signature: hex::encode_prefixed(signature.as_bytes()),
            digest: digest.to_string(),
        })
    }
}

/// Refuses a role that the plugin's manifest does not name.
pub fn check_grant(granted: &[String], role: &str) -> Result<(), HostError> {
    if granted.iter().any(|grant| grant == role) {
        return Ok(());
    }
    let message = format!("the plugin does not declare the role `{role}` in its grants");
    Err(HostError::new(HostErrorCode::Refused, message))
}

impl From<MissingKey> for HostError {
    fn from(error: MissingKey) -> Self {
        Self::new(HostErrorCode::Disabled, error.to_string())
    }
}

fn digest(what: Signable) -> Result<B256, HostError> {
    match what {
        Signable::Text(text) => Ok(eip191_hash_message(text)),
        Signable::Bytes(text) => {
            let bytes = hex::decode(&text).map_err(|error| invalid(format!("the bytes are not 0x…: {error}")))?;
            Ok(eip191_hash_message(bytes))
        }
        Signable::TypedData(document) => {
            let invalid_document = |error: String| invalid(format!("no EIP-712 document: {error}"));
            let document: TypedData =
                serde_json::from_value(document).map_err(|error| invalid_document(error.to_string()))?;
            document.eip712_signing_hash().map_err(|error| invalid_document(error.to_string()))
        }
    }
}

fn recover(digest: &B256, signature: &str) -> Result<Address, HostError> {
    let signature: Signature =
        gateway_envelope::parse_signature(signature).map_err(|error| invalid(error.to_string()))?;
    gateway_envelope::recover(&signature, digest.0).map_err(|error| invalid(error.to_string()))
}

fn invalid(reason: String) -> HostError {
    HostError::new(HostErrorCode::Invalid, reason)
}
