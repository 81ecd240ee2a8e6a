//! Vouchers of x402, as payers sign them: the hash of EIP-712 by hand.

use crate::vault::VAULT;
use alloy_primitives::{U256, hex, keccak256};
use plugin_api::Address;
use plugin_testing::{ScriptedChain, Value, Wallet, json};

const KIND: &str = "Voucher(address payer,address payee,uint256 amount,uint256 nonce,uint64 expiry,bytes32 ref)";
const DOMAIN: &str = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
const DOMAIN_NAME: &str = "ServiceX402";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voucher {
    pub payer: Address,
    pub payee: Address,
    pub amount: U256,
    pub nonce: U256,
    pub expiry_s: u64,
    pub reference: [u8; 32],
}

impl Voucher {
    /// What the payer signs.
    pub fn digest(&self, chain_id: u64) -> [u8; 32] {
        let vault = word(ScriptedChain::address_of(VAULT));
        let chain_id = U256::from(chain_id).to_be_bytes::<32>();
        let domain = [keccak256(DOMAIN).0, keccak256(DOMAIN_NAME).0, keccak256("1").0, chain_id, vault].concat();
        let expiry = U256::from(self.expiry_s).to_be_bytes::<32>();
        let numbers = [self.amount.to_be_bytes::<32>(), self.nonce.to_be_bytes::<32>(), expiry, self.reference];
        let addresses = [keccak256(KIND).0, word(self.payer), word(self.payee)].concat();
        let voucher = keccak256([addresses, numbers.concat()].concat());
        keccak256([&[0x19, 0x01], keccak256(domain).as_slice(), voucher.as_slice()].concat()).0
    }

    /// `{voucher, signature}`.
    pub fn payment(&self, wallet: &Wallet, chain_id: u64) -> Value {
        let mut key = [0; 32];
        let signed = hex::decode_to_slice(wallet.key_text(), &mut key)
            .ok()
            .and_then(|()| request_signing::sign(&key, |_| self.digest(chain_id)));
        let signature = signed.map(|(_, signature)| signature).unwrap_or_default();
        let voucher = json!({
            "payer": self.payer, "payee": self.payee, "amount": self.amount.to_string(), "nonce": self.nonce.to_string(),
            "expiry": self.expiry_s.to_string(), "ref": hex::encode_prefixed(self.reference),
        });
        json!({ "voucher": voucher, "signature": signature })
    }
}

fn word(address: Address) -> [u8; 32] {
    let mut word = [0; 32];
    word[12..].copy_from_slice(&address.0);
    word
}
