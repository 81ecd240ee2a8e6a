//! Ed25519 keys that plugins store sealed: their seeds are random, and sign in here only.

use super::master_key::{KEY_BYTES, fill_random};
use ed25519_dalek::{Signer as _, SigningKey};
use plugin_api::abi::{HostError, HostErrorCode};
use zeroize::Zeroizing;

/// A seed from the operating system's randomness.
pub(crate) fn generate() -> Result<Zeroizing<[u8; KEY_BYTES]>, HostError> {
    let mut seed = Zeroizing::new([0; KEY_BYTES]);
    fill_random(&mut *seed).map_err(internal)?;
    Ok(seed)
}

pub(crate) fn public_key(seed: &[u8]) -> Result<[u8; KEY_BYTES], HostError> {
    Ok(key(seed)?.verifying_key().to_bytes())
}

pub(crate) fn sign(seed: &[u8], message: &[u8]) -> Result<[u8; 64], HostError> {
    Ok(key(seed)?.sign(message).to_bytes())
}

/// It overwrites its own copy of the seed when it is dropped.
fn key(seed: &[u8]) -> Result<SigningKey, HostError> {
    SigningKey::try_from(seed).map_err(internal)
}

fn internal(reason: impl ToString) -> HostError {
    HostError::new(HostErrorCode::Internal, reason.to_string())
}
