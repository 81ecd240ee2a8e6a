//! An example of a signed request, so that a newcomer sees a write succeed before writing any code.

use crate::Brand;
use alloy_primitives::hex;
use request_signing::{canonical, digest, message, sign};
use serde_json::{Value, json};

/// The first key of every development chain (`test test … junk`), which is public.
const PUBLIC_TEST_KEY: [u8; 32] = hex!("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");

/// The body of `POST /api/forum/threads`, with its envelope.
pub fn signed_thread(brand: &Brand, now_s: i64) -> Option<Value> {
    let payload = json!({ "title": "Hello", "body": "My first thread", "tags": ["intro"] });
    let canonical = canonical::rfc8785(&payload).ok()?;
    let (address, signature) = sign(&PUBLIC_TEST_KEY, |address| {
        let ts = u64::try_from(now_s).unwrap_or_default();
        digest(&message(brand.message_line(), "thread.create", address, ts, &canonical))
    })?;
    let mut body = payload;
    body["address"] = address.to_checksum(None).into();
    body["ts"] = now_s.into();
    body["sig"] = signature.into();
    Some(body)
}
