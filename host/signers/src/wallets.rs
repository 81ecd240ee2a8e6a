//! The wallets of a seed, by their index: the children of `m/44'/60'/7'/0` (BIP-44, account 7).
//!
//! The rule: the seed and the keys that come from it are in this crate only. Who may read the extended public key can derive the
//! addresses of all wallets, and nothing else; but with it and the key of one wallet he could compute all others, so that no key of
//! a wallet ever leaves this crate either.

use super::key::{InvalidKey, Key};
use coins_bip32::{
    Bip32Error,
    enc::{MainnetEncoder, XKeyEncoder as _},
    prelude::{Parent as _, XPriv},
    primitives::Hint,
};
use std::fmt;
use zeroize::Zeroizing;

/// Where the wallets are below the seed's root.
const BRANCH: &str = "m/44'/60'/7'/0";
/// Indexes from here on are hardened: no extended public key derives their addresses.
const INDEX_END: u32 = 1 << 31;

pub struct Wallets {
    branch: XPriv,
    xpub: String,
}

impl Wallets {
    /// Of a BIP-32 seed: 16 to 64 bytes.
    pub fn from_seed(seed: &[u8]) -> Result<Self, String> {
        // Without the hint the extended key would be written as `zpub…`, which wallets of this kind do not read.
        let root = XPriv::root_from_seed(seed, Some(Hint::Legacy)).map_err(|error| error.to_string())?;
        let branch = root.derive_path(BRANCH).map_err(|error: Bip32Error| error.to_string())?;
        let xpub = MainnetEncoder::xpub_to_base58(&branch.verify_key()).map_err(|error| error.to_string())?;
        Ok(Self { branch, xpub })
    }

    /// The extended public key of the branch.
    pub fn xpub(&self) -> &str {
        &self.xpub
    }

    /// The key of the wallet with this index.
    pub fn key(&self, index: u32) -> Result<Key, InvalidKey> {
        if index >= INDEX_END {
            return Err(InvalidKey);
        }
        let child = self.branch.derive_child(index).map_err(|_: Bip32Error| InvalidKey)?;
        let signing_key: &coins_bip32::ecdsa::SigningKey = child.as_ref();
        Key::from_slice(&Zeroizing::new(signing_key.to_bytes()))
    }
}

impl fmt::Debug for Wallets {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Wallets of {}", self.xpub)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// The BIP-39 seed of the mnemonic `test test … junk`, whose wallets every development chain knows by another account.
    const SEED: &str = "9dfc3c64c2f8bede1533b6a79f8570e5943e0b8fd1cf77107adf7b72cef42185d564a3aee24cab43f80e3c4538087d70fc824eabbad596a23c97b6ee8322ccc0";

    /// Computed with @scure/bip32 and viem.
    const XPUB: &str = "xpub6EWhM2xTATRUTwiWVsCBfpUrTjZKS8LyMhFfRqC6zSCqpkQNRDcvAutBNABUbgg1bfgV464SMpeePGLvisypZnWSmia7bAMcXq1G6oZx78C";
    const ADDRESSES: [&str; 3] = [
        "0xAF4311d557fBC876059e39306ec1f3343753df29",
        "0xd2378898c87F72dE22eb67673fD23889796C694E",
        "0x40cba5b7A6dC4fd081e247A64029Cb6B63DFB595",
    ];

    #[test]
    fn the_branch_and_its_wallets_are_those_of_other_programs() {
        let wallets = Wallets::from_seed(&hex::decode(SEED).unwrap()).unwrap();
        assert_eq!(wallets.xpub(), XPUB);
        assert_eq!([0, 1, 2].map(|index| wallets.key(index).unwrap().address().to_string()), ADDRESSES);
        assert!(wallets.key(INDEX_END).is_err() && wallets.key(u32::MAX).is_err());
    }

    #[test]
    fn a_seed_is_long_enough() {
        assert!(Wallets::from_seed(&[7; 15]).is_err());
        assert!(format!("{:?}", Wallets::from_seed(&[7; 32]).unwrap()).starts_with("Wallets of xpub"));
    }
}
