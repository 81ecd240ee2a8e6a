//! Deposit addresses of single quotes: children of the extended public key of an account.
//!
//! The rule: what the gateway has a key of gets no deposits. With the extended public key and the key of one address, those of all others can be
//! computed.

use plugin_api::Address;
use std::collections::BTreeSet;
use xpub_address::{ExtendedPublicKey, HARDENED};

/// Of an account: m/44'/60'/n'.
const DEPTH: u8 = 3;
/// The account of the load test, whose key is public.
const LOADTEST: u32 = HARDENED + 7;
/// Of the account's children, the addresses that are given to others.
const EXTERNAL: u32 = 0;
/// Addresses that are compared with the gateway's keys when it starts: wallets use the first ones. Each is compared again before it is given
/// to a quote.
const COMPARED: i64 = 100;

/// An account of which every address is given to one quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    key: ExtendedPublicKey,
    addresses: ExtendedPublicKey,
}

impl Account {
    /// Reads `xpub…`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let key = ExtendedPublicKey::parse(text)?;
        if key.depth() != DEPTH {
            return Err(format!("it is of depth {}, and that of an account (m/44'/60'/n') is needed", key.depth()));
        }
        if key.index() == LOADTEST {
            return Err("account 7 is that of the load test, whose key is public: use another one".to_owned());
        }
        let addresses = key.child(EXTERNAL).ok_or("it has no addresses")?;
        Ok(Self { key, addresses })
    }

    pub fn xpub(&self) -> &str {
        self.key.text()
    }

    /// The address `0/index` of the account; `None` where there is none.
    pub fn address(&self, index: i64) -> Option<Address> {
        self.addresses.address(index)
    }

    /// The first of its addresses of which the gateway has the key, with its index.
    pub fn find_held(&self, held: &BTreeSet<Address>) -> Option<(i64, Address)> {
        if held.is_empty() {
            return None;
        }
        (0..COMPARED)
            .filter_map(|index| Some((index, self.address(index)?)))
            .find(|(_, address)| held.contains(address))
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
        assert_eq!([-1, HARDENED.into(), i64::MAX].map(|index| account.address(index)), [None; 3]);
    }

    #[test]
    fn an_address_of_which_the_gateway_has_the_key_is_found() {
        let account = Account::parse(ACCOUNT).unwrap();
        let held = |index| BTreeSet::from([Address([7; 20]), account.address(index).unwrap()]);
        assert_eq!(account.find_held(&held(COMPARED - 1)), account.address(COMPARED - 1).map(|at| (COMPARED - 1, at)));
        assert_eq!(account.find_held(&held(COMPARED)), None);
    }

    #[test]
    fn only_the_public_key_of_an_account_of_its_own_is_taken() {
        for (text, reason) in [(OF_LOADTEST, "load test"), (BRANCH_OF_LOADTEST, "depth 4"), ("xpub", "more characters")]
        {
            let problem = Account::parse(text).unwrap_err();
            assert!(problem.contains(reason), "{problem}");
        }
    }
}
