//! A master key, from which the keys of all plugins are derived. The rule: its bytes are in one place of the memory, are
//! overwritten when it is dropped, and appear in no text.

use hkdf::Hkdf;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;
use std::fmt;
use zeroize::Zeroizing;

pub(crate) const KEY_BYTES: usize = 32;
const SALT: &[u8] = b"gateway secrets 1";

/// A key that lives as long as one operation.
pub(crate) type DerivedKey = Zeroizing<[u8; KEY_BYTES]>;

/// Says which master key sealed a text; it follows from the key and reveals nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyId(pub [u8; Self::BYTES]);

/// What a derived key is for: one that seals texts opens no sealed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyPurpose {
    Hmac,
    /// Texts that the plugin may read.
    Text,
    /// Keys for HMAC that the plugin stores and never reads.
    Key,
    /// Seeds of Ed25519 keys that the plugin stores and never reads.
    SigningKey,
}

pub(crate) struct MasterKey {
    id: KeyId,
    /// Boxed, so that moving the key copies no secret.
    secret: Box<Zeroizing<[u8; KEY_BYTES]>>,
}

/// The text does not contain the invalid value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key is 64 hexadecimal digits (0x before them or not), not all of them equal")]
pub(crate) struct InvalidMasterKey;

impl KeyId {
    pub(crate) const BYTES: usize = 8;
}

impl fmt::Display for KeyId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&hex::encode(self.0))
    }
}

impl MasterKey {
    pub(crate) fn from_hex(text: &SecretString) -> Result<Self, InvalidMasterKey> {
        let text = text.expose_secret().trim();
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let mut secret = Box::new(Zeroizing::new([0; KEY_BYTES]));
        hex::decode_to_slice(digits, &mut **secret).map_err(|_: hex::FromHexError| InvalidMasterKey)?;
        // A placeholder like 000… is no secret.
        if secret.iter().all(|byte| *byte == secret[0]) {
            return Err(InvalidMasterKey);
        }
        Ok(Self::new(secret))
    }

    /// A new key from the operating system's randomness.
    pub(crate) fn random() -> Result<Self, String> {
        let mut secret = Box::new(Zeroizing::new([0; KEY_BYTES]));
        fill_random(&mut **secret)?;
        Ok(Self::new(secret))
    }

    fn new(secret: Box<Zeroizing<[u8; KEY_BYTES]>>) -> Self {
        let mut key = Self { id: KeyId([0; KeyId::BYTES]), secret };
        let id = key.expand(&[b"key id"]);
        key.id.0.copy_from_slice(&id[..KeyId::BYTES]);
        key
    }

    pub(crate) fn id(&self) -> KeyId {
        self.id
    }

    /// The key of one plugin's secret. Names of plugins and secrets contain no zero byte, so no two of them have one key.
    pub(crate) fn derive(&self, purpose: KeyPurpose, plugin: &str, name: &str) -> DerivedKey {
        let purpose: &[u8] = match purpose {
            KeyPurpose::Hmac => b"hmac",
            KeyPurpose::Text => b"seal text",
            KeyPurpose::Key => b"seal key",
            KeyPurpose::SigningKey => b"seal signing key",
        };
        self.expand(&[purpose, b"\0", plugin.as_bytes(), b"\0", name.as_bytes()])
    }

    /// 64 digits, for the file of a generated key.
    pub(crate) fn to_hex(&self) -> Zeroizing<String> {
        Zeroizing::new(hex::encode(**self.secret))
    }

    fn expand(&self, info: &[&[u8]]) -> DerivedKey {
        let mut derived = Zeroizing::new([0; KEY_BYTES]);
        let hkdf = Hkdf::<Sha256>::new(Some(SALT), &**self.secret);
        // It fails for outputs above 255 hashes only, and this one is one hash.
        let is_filled = hkdf.expand_multi_info(info, &mut *derived).is_ok();
        debug_assert!(is_filled, "an output of one hash");
        derived
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "MasterKey {}", self.id)
    }
}

/// Bytes from the operating system's randomness.
pub(crate) fn fill_random(bytes: &mut [u8]) -> Result<(), String> {
    use rand::{TryRng as _, rngs::SysRng};
    SysRng.try_fill_bytes(bytes).map_err(|error| format!("the system gives no random bytes: {error}"))
}
