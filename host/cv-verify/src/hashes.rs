//! Leaves, root and document hash.
//!
//! The rule: this is not the tree of the contract `MemoryAnchor`, whose leaves and nodes are tagged.

use crate::document::Document;
use alloy_primitives::{B256, keccak256};
use gateway_audit_verify::canonical::canonical;
use serde_json::{Map, Value};

/// The hashes of a document as it stands, whatever it says of them.
#[derive(Clone, Debug)]
pub(crate) struct DocumentHashes {
    pub leaves: Vec<B256>,
    pub root: B256,
    pub document: B256,
}

impl DocumentHashes {
    pub(crate) fn of(document: &Document) -> Self {
        let leaves: Vec<B256> = document.record.iter().map(|claim| leaf(&claim.members)).collect();
        Self { root: root(leaves.clone()), leaves, document: document_hash(&document.members) }
    }
}

/// keccak256 of the canonical JSON of an object without some members.
fn hash_without(object: &Map<String, Value>, left_out: &[&str]) -> B256 {
    let members = object.iter().filter(|(name, _)| !left_out.contains(&name.as_str()));
    let object: Map<String, Value> = members.map(|(name, value)| (name.clone(), value.clone())).collect();
    keccak256(canonical(&Value::Object(object)))
}

pub(crate) fn leaf(claim: &Map<String, Value>) -> B256 {
    hash_without(claim, &["leaf"])
}

pub(crate) fn document_hash(document: &Map<String, Value>) -> B256 {
    hash_without(document, &["proof", "documentHash"])
}

/// Pairs are hashed together from the leaves up, an odd one with itself; without leaves it is the hash of nothing.
pub(crate) fn root(mut level: Vec<B256>) -> B256 {
    while level.len() > 1 {
        let node = |pair: &[B256]| {
            let left = pair.first().copied().unwrap_or_default();
            keccak256([left, pair.get(1).copied().unwrap_or(left)].concat())
        };
        level = level.chunks(2).map(node).collect();
    }
    level.first().copied().unwrap_or_else(|| keccak256([]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vector of the network's clients, and what follows from the rules.
    #[test]
    fn the_root_is_that_of_the_networks_vector() {
        let [first, second, third] = ["r1", "r2", "r3"].map(|text| keccak256(text.as_bytes()));
        let vector = "0x31eedffcfe27e25510b2e05153508eeb28c7ba2d94ede2e147d01a395cd855ef";
        assert_eq!(root(vec![first, second, third]).to_string(), vector);
        assert_eq!(root(vec![first]), first);
        assert_eq!(root(Vec::new()), keccak256(""));
        assert_ne!(root(vec![first, second]), root(vec![second, first]));
    }
}
