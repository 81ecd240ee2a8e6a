//! Typed data (EIP-712) for a contract: what is signed, and by whom it was.

use alloy_primitives::{Signature, U256, hex, keccak256};
use plugin_api::Address;
use plugin_testing::Wallet;

const DOMAIN: &str = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
const VERSION: &str = "1";

/// Whom a signature is for.
pub struct Domain {
    pub name: &'static str,
    pub chain_id: u64,
    pub contract: Address,
}

impl Domain {
    /// What is signed for a struct of this type with these members.
    pub fn digest(&self, kind: &str, members: &[[u8; 32]]) -> [u8; 32] {
        let chain_id = U256::from(self.chain_id).to_be_bytes::<32>();
        let domain = [keccak256(DOMAIN).0, keccak256(self.name).0, keccak256(VERSION).0, chain_id, word(self.contract)];
        let data = [&[keccak256(kind).0][..], members].concat();
        let (domain, data) = (keccak256(domain.concat()), keccak256(data.concat()));
        keccak256([&[0x19, 0x01], domain.as_slice(), data.as_slice()].concat()).0
    }
}

/// An address as a member.
pub fn word(address: Address) -> [u8; 32] {
    let mut word = [0; 32];
    word[12..].copy_from_slice(&address.0);
    word
}

pub fn sign(wallet: &Wallet, digest: [u8; 32]) -> String {
    let mut key = [0; 32];
    let signed =
        hex::decode_to_slice(wallet.key_text(), &mut key).ok().and_then(|()| request_signing::sign(&key, |_| digest));
    signed.map(|(_, signature)| signature).unwrap_or_default()
}

/// None when it is no signature.
pub fn signer(digest: [u8; 32], signature: &[u8]) -> Option<Address> {
    let signature = Signature::from_raw(signature).ok()?;
    let signer = signature.recover_address_from_prehash(&digest.into()).ok()?;
    Some(Address(signer.into_array()))
}
