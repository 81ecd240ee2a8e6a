//! The wallets' addresses, from the extended public key of their branch.

use alloy_primitives::keccak256;
use coins_bip32::{
    enc::{MainnetEncoder, XKeyEncoder as _},
    prelude::{Parent as _, XPub},
};
use plugin_api::Address;

/// Where the branch is below a seed's root (BIP-44, account 7), with the place of the index.
pub const PATH: &str = "m/44'/60'/7'/0/i";
/// Indexes from here on are hardened: a public key has no such children.
const INDEX_END: i64 = 1 << 31;
/// 82 bytes in Base58.
const XPUB_CHARS: usize = 111;

/// An extended public key.
#[derive(Debug)]
pub struct Branch {
    key: XPub,
    text: String,
}

impl Branch {
    /// Reads `xpub…`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        // The decoder panics on a text that is too short.
        if !text.starts_with("xpub") || text.len() != XPUB_CHARS {
            return Err(format!("it is not xpub and {} more characters", XPUB_CHARS - "xpub".len()));
        }
        let key = MainnetEncoder::xpub_from_base58(text).map_err(|error| format!("it is no extended key: {error}"))?;
        Ok(Self { key, text: text.to_owned() })
    }

    pub fn xpub(&self) -> &str {
        &self.text
    }

    /// The address of a wallet; `None` where there is no such child.
    pub fn address(&self, index: i64) -> Option<Address> {
        let index = u32::try_from(index).ok().filter(|index| i64::from(*index) < INDEX_END)?;
        let child = self.key.derive_child(index).ok()?;
        let key: &coins_bip32::ecdsa::VerifyingKey = child.as_ref();
        let point = key.to_encoded_point(false);
        let hash = keccak256(point.as_bytes().get(1..)?);
        Some(Address(hash.get(12..)?.try_into().ok()?))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Computed with @scure/bip32 and viem, from the seed of 32 bytes 0x77.
    const XPUB: &str = "xpub6Dom4bNvHgeKTBr1kNeTbfKWLVT6aKFmwj419xXdbnNyFUrXuv5gi14gFfX7wBS2NBga96qAwtFwx2hiNqhaQQRoSXyAX32ww4KnaD6cZpz";

    #[test]
    fn addresses_are_those_of_other_programs() {
        let branch = Branch::parse(&format!(" {XPUB}\n")).unwrap();
        assert_eq!(branch.xpub(), XPUB);
        let addresses = [0, 1, 5000].map(|index| branch.address(index).unwrap().to_string());
        assert_eq!(
            addresses,
            [
                "0xC75F02c48cB7f7f0220dee74E7F212906Acc68A3",
                "0x12935FDB277Ce7EE831Dba34454D52D606358796",
                "0xCE597d1353FE4643c00A6e174ABFB52F0505463B",
            ]
        );
        assert_eq!([-1, INDEX_END, i64::MAX].map(|index| branch.address(index)), [None; 3]);
    }

    #[test]
    fn what_is_no_public_key_is_refused() {
        let private = "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi";
        let changed = XPUB.replace("KTBr", "KTBs");
        for text in [
            "",
            "xpub",
            private,
            &changed,
            "zpub6jftahH18ngZxLmXaKw3GSZzZsszmt9WqedkyZdezFtWRFBZqsQH5hyUmb4pCEeZGmVfQuP5bedXTB8is6fTv19U1GQRyQUKQGUTzyHACMF",
        ] {
            assert!(Branch::parse(text).is_err(), "{text}");
        }
    }
}
