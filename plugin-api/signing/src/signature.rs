//! The signature of a wallet, as text.

use alloy_primitives::{Address, B256, hex, keccak256};
use secp256k1::{Message, Secp256k1, SecretKey};

/// The key's address, and its signature over a digest that depends on the address: `0x` and 130 hexadecimal digits, of r, s and v
/// (27 or 28). `None` when these 32 bytes are no key.
#[must_use]
pub fn sign(key: &[u8; 32], digest: impl FnOnce(&Address) -> [u8; 32]) -> Option<(Address, String)> {
    let key = SecretKey::from_byte_array(*key).ok()?;
    let context = Secp256k1::signing_only();
    let public = key.public_key(&context).serialize_uncompressed();
    let address = Address::from_slice(&keccak256(&public[1..])[12..]);
    let message = Message::from_digest(B256::from(digest(&address)).0);
    let (recovery, compact) = context.sign_ecdsa_recoverable(message, &key).serialize_compact();
    let mut signature = compact.to_vec();
    signature.push(27 + u8::try_from(i32::from(recovery)).ok()?);
    Some((address, hex::encode_prefixed(signature)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// The first account of every development chain.
    #[test]
    fn the_address_is_that_of_the_key() {
        let key = hex!("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
        let (address, signature) = sign(&key, |_| [1; 32]).unwrap();
        assert_eq!(address.to_checksum(None), "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
        assert!(signature.len() == 132 && signature.starts_with("0x"), "{signature}");
        assert!(signature.ends_with("1b") || signature.ends_with("1c"), "{signature}");
    }

    #[test]
    fn zero_is_no_key() {
        assert_eq!(sign(&[0; 32], |_| [1; 32]), None);
    }
}
