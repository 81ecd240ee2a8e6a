//! Vouchers that wallets sign. The hash is computed here a second time, by hand.

use crate::{FMX, PAYEE, VAULT};
use alloy_primitives::{U256, keccak256};
use plugin_api::{Address, Hash256};
use plugin_testing::{ScriptedChain, TestGateway, Value, Wallet, json};

#[derive(Clone, Debug)]
pub struct Draft {
    pub wallet: Wallet,
    pub payee: Address,
    pub amount: u64,
    pub nonce: u64,
    pub expiry_s: i64,
    pub reference: Hash256,
}

impl Draft {
    /// A hundredth of 1 FMX, which lives longer than a test's clock moves.
    pub fn new(gateway: &TestGateway, wallet: u64, nonce: u64) -> Self {
        let (wallet, expiry_s) = (Wallet::new(wallet), gateway.now_s() + 3600);
        Self { wallet, payee: PAYEE, amount: FMX / 100, nonce, expiry_s, reference: Hash256([0; 32]) }
    }

    pub fn payer(&self) -> Address {
        self.wallet.address().parse().unwrap()
    }

    pub fn voucher(&self) -> Value {
        json!({
            "payer": self.payer(), "payee": self.payee, "amount": self.amount.to_string(), "nonce": self.nonce.to_string(),
            "expiry": self.expiry_s.to_string(), "ref": self.reference,
        })
    }

    pub fn signature(&self) -> String {
        let mut key = [0; 32];
        hex::decode_to_slice(self.wallet.key_text(), &mut key).unwrap();
        let digest = digest(&separator("ServiceX402", ScriptedChain::address_of(VAULT)), &self.struct_hash());
        request_signing::sign(&key, |_| digest).unwrap().1
    }

    /// `{voucher, signature}`.
    pub fn payment(&self) -> Value {
        json!({ "voucher": self.voucher(), "signature": self.signature() })
    }

    /// With what it has to meet.
    pub fn request(&self, pay_to: Address, amount: u64) -> Value {
        let requirements =
            json!({ "payTo": pay_to, "maxAmountRequired": amount.to_string(), "resource": "https://a.example/b" });
        json!({ "paymentPayload": self.payment(), "paymentRequirements": requirements })
    }

    fn struct_hash(&self) -> [u8; 32] {
        struct_hash(
            self.payer(),
            self.payee,
            U256::from(self.amount),
            U256::from(self.nonce),
            self.expiry_s,
            self.reference,
        )
    }
}

fn word(address: Address) -> [u8; 32] {
    let mut word = [0; 32];
    word[12..].copy_from_slice(&address.0);
    word
}

fn struct_hash(
    payer: Address,
    payee: Address,
    amount: U256,
    nonce: U256,
    expiry_s: i64,
    reference: Hash256,
) -> [u8; 32] {
    let kind = keccak256("Voucher(address payer,address payee,uint256 amount,uint256 nonce,uint64 expiry,bytes32 ref)");
    let (amount, nonce) = (amount.to_be_bytes::<32>(), nonce.to_be_bytes::<32>());
    let expiry = U256::from(expiry_s.unsigned_abs()).to_be_bytes::<32>();
    keccak256([kind.0, word(payer), word(payee), amount, nonce, expiry, reference.0].concat()).0
}

pub fn separator(name: &str, vault: Address) -> [u8; 32] {
    let kind = keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    let chain_id = U256::from(3961).to_be_bytes::<32>();
    keccak256([kind.0, keccak256(name).0, keccak256("1").0, chain_id, word(vault)].concat()).0
}

fn digest(separator: &[u8; 32], struct_hash: &[u8; 32]) -> [u8; 32] {
    keccak256([&[0x19, 0x01], separator.as_slice(), struct_hash].concat()).0
}

/// A vector of the deployed vault: the key 0x00…01.
#[test]
fn the_hash_is_that_of_the_public_vector() {
    let text = |bytes: [u8; 32]| Hash256(bytes).to_string();
    let vault = "0x8751Cf7e29Fe588c61FDc53323438247198eaa57".parse().unwrap();
    let payer = "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf".parse().unwrap();
    let hash = struct_hash(payer, PAYEE, U256::from(FMX), U256::from(42), 1_900_000_000, Hash256([0x33; 32]));
    assert_eq!(text(hash), "0xf636da2e92aec9b4234e81cfc75262062d9bb60dcaab45cf24b170b2a6bb84a8");
    let separator = separator("ServiceX402", vault);
    assert_eq!(text(separator), "0x7e05dff85cee77a54b98f0700753cef4689ab393d8d03e5c08609df683e8e33f");
    let digest = digest(&separator, &hash);
    assert_eq!(text(digest), "0x84593bb8a1b47b2b9321663cbb58a044cb3392c231da118941d5a4872d362885");
    let mut key = [0; 32];
    key[31] = 1;
    let (_, signature) = request_signing::sign(&key, |_| digest).unwrap();
    assert_eq!(
        signature,
        "0xb7fce6b2146c5e3bf19101f571d8b24ce822134678c86f6266bd8dc863c40b207843e733ec77df667f2f045fa7c99071be7136a23166095f3c42e925c2d62bdf1b"
    );
}
