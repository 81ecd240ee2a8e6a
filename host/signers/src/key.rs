//! One private key. The rule: its bytes are in one place of the memory, are overwritten when the key is dropped, and
//! appear in no text.

use alloy_primitives::{Address, B256, Signature, keccak256};
use secp256k1::{Message, Secp256k1, SecretKey};
use secrecy::{ExposeSecret as _, SecretString};
use std::fmt;
use zeroize::Zeroizing;

pub struct Key {
    /// Boxed, so that moving the key copies no secret.
    secret: Box<Zeroizing<[u8; 32]>>,
    address: Address,
}

/// The text does not contain the invalid value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key is 64 hexadecimal digits (0x before them or not) and a number below the order of secp256k1")]
pub struct InvalidKey;

impl Key {
    pub fn from_hex(text: &SecretString) -> Result<Self, InvalidKey> {
        let text = text.expose_secret().trim();
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let mut secret = Box::new(Zeroizing::new([0; 32]));
        hex::decode_to_slice(digits, &mut **secret).map_err(|_: hex::FromHexError| InvalidKey)?;
        Self::new(secret)
    }

    pub fn from_slice(bytes: &[u8]) -> Result<Self, InvalidKey> {
        let mut secret = Box::new(Zeroizing::new([0; 32]));
        if bytes.len() != secret.len() {
            return Err(InvalidKey);
        }
        secret.copy_from_slice(bytes);
        Self::new(secret)
    }

    /// A new key from the operating system's randomness.
    pub fn random() -> Result<Self, String> {
        use rand::{TryRng as _, rngs::SysRng};
        let mut secret = Box::new(Zeroizing::new([0; 32]));
        SysRng.try_fill_bytes(&mut **secret).map_err(|error| error.to_string())?;
        // The chance that these bytes are no key is 2^-128.
        Self::new(secret).map_err(|error| error.to_string())
    }

    fn new(secret: Box<Zeroizing<[u8; 32]>>) -> Result<Self, InvalidKey> {
        let mut key = Self { secret, address: Address::ZERO };
        key.address = key.with_secret(|secret| {
            let public = secret.public_key(&Secp256k1::signing_only()).serialize_uncompressed();
            Address::from_slice(&keccak256(&public[1..])[12..])
        })?;
        Ok(key)
    }

    pub fn address(&self) -> Address {
        self.address
    }

    /// Signs a hash; `s` is in the lower half of its range (EIP-2).
    pub fn sign_hash(&self, hash: &B256) -> Result<Signature, InvalidKey> {
        self.with_secret(|secret| {
            let signed = Secp256k1::signing_only().sign_ecdsa_recoverable(Message::from_digest(hash.0), secret);
            let (recovery, scalars) = signed.serialize_compact();
            Signature::from_bytes_and_parity(&scalars, i32::from(recovery) & 1 == 1)
        })
    }

    /// 64 digits, for the file of the gateway's own key.
    pub(crate) fn to_hex(&self) -> Zeroizing<String> {
        Zeroizing::new(hex::encode(**self.secret))
    }

    fn with_secret<T>(&self, use_secret: impl FnOnce(&SecretKey) -> T) -> Result<T, InvalidKey> {
        let mut secret = SecretKey::from_byte_array(**self.secret).map_err(|_: secp256k1::Error| InvalidKey)?;
        let result = use_secret(&secret);
        secret.non_secure_erase();
        Ok(result)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Key of {}", self.address)
    }
}
