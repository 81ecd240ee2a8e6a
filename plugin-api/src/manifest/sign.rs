//! Requests of the capability `sign`.

use crate::values::{Address, Hash256};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request to the gateway's keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignCall {
    /// The address of a role's key.
    Address { role: String },
    /// Signs with a role's key: a [`SignResult`].
    Sign { role: String, what: Signable },
    /// The signer of a signature (`0x` and 130 digits): an address. Needs no grant.
    Recover { what: Signable, signature: String },
    /// The same of a hash that the plugin has computed. There is no such form for signing.
    RecoverDigest { digest: Hash256, signature: String },
}

/// A document to sign. No form can be mistaken for a transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signable {
    /// A text, by EIP-191 (`personal_sign`).
    Text(String),
    /// Bytes as `0x…`, by EIP-191: the signed message is these bytes.
    Bytes(String),
    /// An EIP-712 document with `types`, `primaryType`, `domain` and `message`.
    TypedData(Value),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignResult {
    /// The signer.
    pub address: Address,
    /// `0x` and 130 digits: r, s in the lower half, v of 27 or 28.
    pub signature: String,
    /// The hash that is signed, `0x…`.
    pub digest: String,
}
