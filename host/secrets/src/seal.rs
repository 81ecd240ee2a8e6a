//! Sealed texts: a byte with the version of this format, the id of the master key, a random nonce, and the text encrypted and
//! authenticated by XChaCha20-Poly1305.
//!
//! The rule: whatever was changed, in the text, its key id or its associated data, does not open.

use super::{
    keyring::Keyring,
    master_key::{KeyId, KeyPurpose, fill_random},
};
use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};
use plugin_api::abi::{HostError, HostErrorCode};
use zeroize::Zeroizing;

const VERSION: u8 = 1;
const HEADER_BYTES: usize = 1 + KeyId::BYTES;
const NONCE_BYTES: usize = 24;
const TAG_BYTES: usize = 16;
/// How much longer a sealed text is than the text.
pub(crate) const SEAL_BYTES: usize = HEADER_BYTES + NONCE_BYTES + TAG_BYTES;

/// What a text is sealed for. Its key is derived from the first three; the last is authenticated with the text.
#[derive(Clone, Copy)]
pub(crate) struct SealContext<'a> {
    pub purpose: KeyPurpose,
    pub plugin: &'a str,
    pub secret: &'a str,
    /// Names the record that the text belongs to.
    pub associated_data: &'a [u8],
}

impl SealContext<'_> {
    pub(crate) fn seal(self, keyring: &Keyring, text: &[u8]) -> Result<Vec<u8>, HostError> {
        let key = keyring.newest();
        let mut nonce = [0; NONCE_BYTES];
        fill_random(&mut nonce).map_err(internal)?;
        let mut sealed = vec![VERSION];
        sealed.extend(key.id().0);
        let aad = self.authenticated(&sealed);
        let cipher = XChaCha20Poly1305::new_from_slice(&*key.derive(self.purpose, self.plugin, self.secret));
        let cipher = cipher.map_err(|_| internal("a key has another length"))?;
        let encrypted = cipher.encrypt(&XNonce::from(nonce), Payload { msg: text, aad: &aad });
        sealed.extend(nonce);
        sealed.extend(encrypted.map_err(|_| internal("a text could not be encrypted"))?);
        Ok(sealed)
    }

    pub(crate) fn open(self, keyring: &Keyring, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, HostError> {
        let id = key_id(sealed)?;
        let key = keyring.find(id).ok_or_else(|| missing_key(id))?;
        let (header, rest) = sealed.split_at(HEADER_BYTES);
        let (nonce, encrypted) = rest.split_first_chunk::<NONCE_BYTES>().ok_or_else(broken)?;
        let aad = self.authenticated(header);
        let cipher = XChaCha20Poly1305::new_from_slice(&*key.derive(self.purpose, self.plugin, self.secret));
        let cipher = cipher.map_err(|_| internal("a key has another length"))?;
        let opened = cipher.decrypt(&XNonce::from(*nonce), Payload { msg: encrypted, aad: &aad });
        opened.map(Zeroizing::new).map_err(|_| broken())
    }

    /// The header has a fixed length, so no two pairs of header and associated data are the same bytes.
    fn authenticated(self, header: &[u8]) -> Vec<u8> {
        [header, self.associated_data].concat()
    }
}

/// The id of the key that sealed it.
pub(crate) fn key_id(sealed: &[u8]) -> Result<KeyId, HostError> {
    match sealed.split_first() {
        Some((&VERSION, rest)) => rest.first_chunk().map(|id| KeyId(*id)).ok_or_else(broken),
        _ => Err(broken()),
    }
}

/// One text for all causes: which of them it is would help to forge one.
fn broken() -> HostError {
    let message = "it does not open: it was changed, or sealed by another plugin, for another secret or with other associated data";
    HostError::new(HostErrorCode::Invalid, message)
}

fn missing_key(id: KeyId) -> HostError {
    let message = format!("it was sealed with the secrets key {id}, which this gateway does not have");
    HostError::new(HostErrorCode::Disabled, message)
}

fn internal(reason: impl Into<String>) -> HostError {
    HostError::new(HostErrorCode::Internal, reason)
}
