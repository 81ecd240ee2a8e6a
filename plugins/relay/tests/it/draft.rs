//! Calls that wallets sign. The hash is computed here a second time, by hand.

use crate::account;
use alloy_primitives::{U256, keccak256};
use plugin_api::{Address, Hash256};
use plugin_testing::{ScriptedChain, TestGateway, Value, Wallet, json};

#[derive(Clone, Debug)]
pub struct Draft {
    pub account: Address,
    pub to: Address,
    pub value: u64,
    pub data: Vec<u8>,
    pub nonce: u64,
    pub deadline: i64,
}

impl Draft {
    pub fn new(gateway: &TestGateway, account_number: u8, nonce: u64) -> Self {
        let to = ScriptedChain::address_of("registry");
        let (account, data) = (account(account_number), vec![0xab, 0xcd]);
        Self { account, to, value: 0, data, nonce, deadline: gateway.now_s() + 3600 }
    }

    pub fn digest(&self) -> Hash256 {
        let word = |address: Address| {
            let mut word = [0; 32];
            word[12..].copy_from_slice(&address.0);
            word
        };
        let number = |number: u64| U256::from(number).to_be_bytes::<32>();
        let domain = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
        let domain = [
            keccak256(domain).0,
            keccak256("ServiceAgentAccount").0,
            keccak256("1").0,
            number(3961),
            word(self.account),
        ];
        let kind = "Execute(address to,uint256 value,bytes32 dataHash,uint256 nonce,uint64 deadline)";
        let deadline = self.deadline.unsigned_abs();
        let members =
            [word(self.to), number(self.value), keccak256(&self.data).0, number(self.nonce), number(deadline)];
        let execute = [[keccak256(kind).0].as_slice(), members.as_slice()].concat().concat();
        let (domain, execute) = (keccak256(domain.concat()), keccak256(execute));
        Hash256(keccak256([&[0x19, 0x01], domain.as_slice(), execute.as_slice()].concat()).0)
    }

    pub fn signature(&self) -> String {
        self.signature_of(&Wallet::new(7))
    }

    pub fn signature_of(&self, wallet: &Wallet) -> String {
        let mut key = [0; 32];
        hex::decode_to_slice(wallet.key_text(), &mut key).unwrap();
        let digest = self.digest().0;
        request_signing::sign(&key, |_| digest).unwrap().1
    }

    pub fn body(&self) -> Value {
        self.body_with(&self.signature())
    }

    pub fn body_with(&self, signature: &str) -> Value {
        json!({
            "account": self.account, "to": self.to, "value": self.value.to_string(), "deadline": self.deadline,
            "data": format!("0x{}", hex::encode(&self.data)), "sig": signature,
        })
    }

    /// The same signature with 0 or 1 in its last byte, as some libraries write it.
    pub fn short_form(&self) -> String {
        let signature = self.signature();
        let (scalars, v) = signature.split_at(signature.len() - 2);
        format!("{scalars}{}", if v == "1b" { "00" } else { "01" })
    }

    /// The other signature of the same key for the same digest, which anybody can compute from the first.
    pub fn other_form(&self) -> String {
        let order: U256 = "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141".parse().unwrap();
        let signature = hex::decode(self.signature().trim_start_matches("0x")).unwrap();
        let s = order - U256::from_be_slice(&signature[32..64]);
        let v = if signature[64] == 27 { 28 } else { 27 };
        format!("0x{}", hex::encode([&signature[..32], &s.to_be_bytes::<32>(), &[v]].concat()))
    }
}
