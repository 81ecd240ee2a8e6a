//! An example of a signed request, so that a newcomer sees a write succeed before writing any code.

use crate::Brand;
use alloy_primitives::{Address, B256, hex, keccak256};
use serde_json::{Value, json};

/// The first key of every development chain (`test test … junk`), which is public.
const PUBLIC_TEST_KEY: [u8; 32] = hex!("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");

/// The body of `POST /api/forum/threads`, with its envelope.
pub fn signed_thread(brand: &Brand, now_s: i64) -> Option<Value> {
    let payload = json!({ "title": "Hello", "body": "My first thread", "tags": ["intro"] });
    let canonical = crate::canonical::rfc8785(&payload).ok()?;
    let (address, signature) = sign(&PUBLIC_TEST_KEY, |address| {
        let message = crate::message(
            brand.message_line(),
            "thread.create",
            address,
            u64::try_from(now_s).unwrap_or_default(),
            &canonical,
        );
        crate::digest(&message)
    })?;
    let mut body = payload;
    body["address"] = address.to_checksum(None).into();
    body["ts"] = now_s.into();
    body["sig"] = signature.into();
    Some(body)
}

/// Signs a digest that depends on the address of the key.
pub fn sign(key: &[u8; 32], digest: impl FnOnce(&Address) -> [u8; 32]) -> Option<(Address, String)> {
    let key = secp256k1::SecretKey::from_byte_array(*key).ok()?;
    let context = secp256k1::Secp256k1::signing_only();
    let public = key.public_key(&context).serialize_uncompressed();
    let address = Address::from_slice(&keccak256(&public[1..])[12..]);
    let message = secp256k1::Message::from_digest(B256::from(digest(&address)).0);
    let (recovery, compact) = context.sign_ecdsa_recoverable(message, &key).serialize_compact();
    let mut signature = compact.to_vec();
    signature.push(27 + u8::try_from(i32::from(recovery)).ok()?);
    Some((address, hex::encode_prefixed(signature)))
}
