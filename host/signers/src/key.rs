//! One private key. The rule: its bytes are in one place of the memory, overwritten when nobody needs them any more, and no
//! text of any kind shows them.

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

/// It says nothing of what was there instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key is 64 hexadecimal digits (0x before them or not) and a number below the order of secp256k1")]
pub struct BadKey;

impl Key {
    pub fn from_hex(text: &SecretString) -> Result<Self, BadKey> {
        let text = text.expose_secret().trim();
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let mut secret = Box::new(Zeroizing::new([0; 32]));
        hex::decode_to_slice(digits, &mut **secret).map_err(|_: hex::FromHexError| BadKey)?;
        Self::new(secret)
    }

    pub fn from_slice(bytes: &[u8]) -> Result<Self, BadKey> {
        let mut secret = Box::new(Zeroizing::new([0; 32]));
        if bytes.len() != secret.len() {
            return Err(BadKey);
        }
        secret.copy_from_slice(bytes);
        Self::new(secret)
    }

    /// A new one, from the operating system's randomness.
    pub fn random() -> Result<Self, String> {
        use rand::{TryRng as _, rngs::SysRng};
        let mut secret = Box::new(Zeroizing::new([0; 32]));
        SysRng.try_fill_bytes(&mut **secret).map_err(|error| error.to_string())?;
        // That these are no key has a chance of 2^-128.
        Self::new(secret).map_err(|error| error.to_string())
    }

    fn new(secret: Box<Zeroizing<[u8; 32]>>) -> Result<Self, BadKey> {
        let mut key = Self { secret, address: Address::ZERO };
        key.address = key.with(|secret| {
            let public = secret.public_key(&Secp256k1::signing_only()).serialize_uncompressed();
            Address::from_slice(&keccak256(&public[1..])[12..])
        })?;
        Ok(key)
    }

    pub fn address(&self) -> Address {
        self.address
    }

    /// Signs a hash; `s` is in the lower half (EIP-2).
    pub fn sign_hash(&self, hash: &B256) -> Result<Signature, BadKey> {
        self.with(|secret| {
            let signed = Secp256k1::signing_only().sign_ecdsa_recoverable(Message::from_digest(hash.0), secret);
            let (recovery, scalars) = signed.serialize_compact();
            Signature::from_bytes_and_parity(&scalars, i32::from(recovery) & 1 == 1)
        })
    }

    /// 64 digits, for the file that the gateway keeps its own key in.
    pub(super) fn to_hex(&self) -> Zeroizing<String> {
        Zeroizing::new(hex::encode(**self.secret))
    }

    fn with<T>(&self, work: impl FnOnce(&SecretKey) -> T) -> Result<T, BadKey> {
        let mut secret = SecretKey::from_byte_array(**self.secret).map_err(|_: secp256k1::Error| BadKey)?;
        let done = work(&secret);
        secret.non_secure_erase();
        Ok(done)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Key of {}", self.address)
    }
}
