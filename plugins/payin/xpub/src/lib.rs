//! Addresses of the children of an extended public key (BIP-32), for the plugins that hand them out or disclose them: `payin` and `loadtest`.
//!
//! The rule: there are public keys only, so what is derived is hardened nowhere and can be spent by nobody here.

#![forbid(unsafe_code)]

use alloy_primitives::keccak256;
use coins_bip32::{
    ecdsa::VerifyingKey,
    enc::{MainnetEncoder, XKeyEncoder as _},
    prelude::{Parent as _, XPub},
    primitives::XKeyInfo,
};
use plugin_api::Address;

/// Indexes from here on are hardened: a public key has no such children.
pub const HARDENED: u32 = 1 << 31;
/// What the text of a public key of the main network begins with.
const PREFIX: &str = "xpub";
/// 82 bytes in Base58.
const CHARS: usize = 111;

/// An extended public key.
#[derive(Clone, Debug)]
pub struct ExtendedPublicKey {
    key: XPub,
    text: String,
}

/// By what their children depend on. Texts of one key may name another parent or depth.
impl PartialEq for ExtendedPublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.info().chain_code == other.info().chain_code
    }
}

impl Eq for ExtendedPublicKey {}

impl ExtendedPublicKey {
    /// Reads `xpub…`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        // The decoder panics on a text that is too short.
        if !text.starts_with(PREFIX) || text.len() != CHARS {
            return Err(format!("it is not {PREFIX} and {} more characters", CHARS - PREFIX.len()));
        }
        let key = MainnetEncoder::xpub_from_base58(text).map_err(|error| format!("it is no extended key: {error}"))?;
        Ok(Self { key, text: text.to_owned() })
    }

    /// The text that it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Levels below the root, as the text says.
    pub fn depth(&self) -> u8 {
        self.info().depth
    }

    /// Which child of its parent it is, as the text says; from [`HARDENED`] on it is a hardened one.
    pub fn index(&self) -> u32 {
        self.info().index
    }

    /// The child with this index; `None` where there is none.
    pub fn child(&self, index: u32) -> Option<Self> {
        let key = self.derive(index)?;
        let text = MainnetEncoder::xpub_to_base58(&key).ok()?;
        Some(Self { key, text })
    }

    /// The address of a child; `None` where there is no such child.
    pub fn address(&self, index: i64) -> Option<Address> {
        let child = self.derive(u32::try_from(index).ok()?)?;
        let key: &VerifyingKey = child.as_ref();
        let point = key.to_encoded_point(false);
        let hash = keccak256(point.as_bytes().get(1..)?);
        Some(Address(hash.get(12..)?.try_into().ok()?))
    }

    fn derive(&self, index: u32) -> Option<XPub> {
        // The depth of a child is one byte.
        if index >= HARDENED || self.depth() == u8::MAX { None } else { self.key.derive_child(index).ok() }
    }

    fn info(&self) -> &XKeyInfo {
        self.key.as_ref()
    }
}

#[cfg(test)]
mod tests;
