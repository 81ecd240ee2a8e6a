//! Vouchers of x402, as payers sign them.

use crate::{
    typed_data::{self, Domain, word},
    vault::VAULT,
};
use alloy_primitives::{U256, hex};
use plugin_api::Address;
use plugin_testing::{ScriptedChain, Value, Wallet, json};

const KIND: &str = "Voucher(address payer,address payee,uint256 amount,uint256 nonce,uint64 expiry,bytes32 ref)";
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
        let domain = Domain { name: DOMAIN_NAME, chain_id, contract: ScriptedChain::address_of(VAULT) };
        let numbers = [self.amount, self.nonce, U256::from(self.expiry_s)].map(|number| number.to_be_bytes::<32>());
        let addresses = [word(self.payer), word(self.payee)];
        domain.digest(KIND, &[&addresses[..], &numbers, &[self.reference]].concat())
    }

    /// `{voucher, signature}`.
    pub fn payment(&self, wallet: &Wallet, chain_id: u64) -> Value {
        let signature = typed_data::sign(wallet, self.digest(chain_id));
        let voucher = json!({
            "payer": self.payer, "payee": self.payee, "amount": self.amount.to_string(), "nonce": self.nonce.to_string(),
            "expiry": self.expiry_s.to_string(), "ref": hex::encode_prefixed(self.reference),
        });
        json!({ "voucher": voucher, "signature": signature })
    }
}
