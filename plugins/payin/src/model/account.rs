//! Deposit addresses of single quotes, from the extended public key of an account. No private key of them is in the gateway: a child of a
//! public key is a public key.

use alloy_primitives::keccak256;
use coins_bip32::{
    enc::{MainnetEncoder, XKeyEncoder as _},
    prelude::{Parent as _, XPub},
};
use plugin_api::Address;

/// Of an account: m/44'/60'/n'.
const ACCOUNT_DEPTH: u8 = 3;
/// Indexes from here on are hardened: a public key has no such children.
const INDEX_END: u32 = 1 << 31;
/// The account of the load test, whose key is public.
const LOADTEST: u32 = INDEX_END + 7;
/// Of the account's children, the addresses that are given to others.
const EXTERNAL: u32 = 0;
/// 82 bytes in Base58.
const XPUB_CHARS: usize = 111;

/// An account of which every address is given to one quote.
#[derive(Clone, Debug)]
pub struct Account {
    branch: XPub,
    xpub: String,
}

/// By what they are written as: one key has one text.
impl PartialEq for Account {
    fn eq(&self, other: &Self) -> bool {
        self.xpub == other.xpub
    }
}

impl Eq for Account {}

impl Account {
    /// Reads `xpub…`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        // The decoder panics on a text that is too short.
        if !text.starts_with("xpub") || text.len() != XPUB_CHARS {
            return Err(format!("it is not xpub and {} more characters", XPUB_CHARS - "xpub".len()));
        }
        let key = MainnetEncoder::xpub_from_base58(text).map_err(|error| format!("it is no extended key: {error}"))?;
        let info: &coins_bip32::primitives::XKeyInfo = key.as_ref();
        if info.depth != ACCOUNT_DEPTH {
            return Err(format!("it is of depth {}, and that of an account (m/44'/60'/n') is needed", info.depth));
        }
        if info.index == LOADTEST {
            return Err("account 7 is that of the load test, whose key is public: use another one".to_owned());
        }
        let branch = key.derive_child(EXTERNAL).map_err(|error| format!("it has no addresses: {error}"))?;
        Ok(Self { branch, xpub: text.to_owned() })
    }

    pub fn xpub(&self) -> &str {
        &self.xpub
    }

    /// The address `0/index` of the account; `None` where there is none.
    pub fn address(&self, index: i64) -> Option<Address> {
        let index = u32::try_from(index).ok().filter(|index| *index < INDEX_END)?;
        let child = self.branch.derive_child(index).ok()?;
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

    /// Accounts 1 and 7 of the seed of 32 bytes 0x77, and m/44'/60'/7'/0: computed with @scure/bip32 and viem.
    const ACCOUNT: &str = "xpub6C9j5N4Uw7GqnZR7sirnUrbag5qoeKNbvApei6xtfTHxNjhmPFmimbqMWzwj9nY8pbzqwB7rZtHksVZQR1ippLawh31r96AmfqJuwjCHWsK";
    const OF_LOADTEST: &str = "xpub6C9j5N4Uw7Gr1xaPt7JABKKZHVT9XESPSrmSk6KGKspaWGpWdNUhTuKwsjkgPRrWs38pV7J1TaS6RzyAN6mToqg3xrjgNY2xtnrHqnc5ToT";
    const BRANCH_OF_LOADTEST: &str = "xpub6Dom4bNvHgeKTBr1kNeTbfKWLVT6aKFmwj419xXdbnNyFUrXuv5gi14gFfX7wBS2NBga96qAwtFwx2hiNqhaQQRoSXyAX32ww4KnaD6cZpz";

    #[test]
    fn addresses_are_those_of_other_programs() {
        let account = Account::parse(ACCOUNT).unwrap();
        assert_eq!(
            [0, 1, 5000].map(|index| account.address(index).unwrap().to_string()),
            [
                "0x1AE770BA20179A4f5470AcDFE39d407FB9b05042",
                "0x34F56d9dA6DC8003AF939B0d4a2A3C9721A6e9E5",
                "0x8929cc456727D0eFD1823A4baf10B4a8185242D4",
            ]
        );
        assert_eq!([-1, INDEX_END.into(), i64::MAX].map(|index| account.address(index)), [None; 3]);
    }

    #[test]
    fn only_the_public_key_of_an_account_of_its_own_is_taken() {
        let private = ACCOUNT.replacen("xpub", "xprv", 1);
        let mistyped = ACCOUNT.replacen("6C9j", "6C9k", 1);
        for (text, reason) in [
            (OF_LOADTEST, "load test"),
            (BRANCH_OF_LOADTEST, "depth 4"),
            (private.as_str(), "it is not xpub"),
            (mistyped.as_str(), "no extended key"),
            ("xpub", "more characters"),
        ] {
            let problem = Account::parse(text).unwrap_err();
            assert!(problem.contains(reason), "{problem}");
        }
    }
}
