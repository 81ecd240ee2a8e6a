//! Hashes of a Merkle tree, as RFC 6962 §2.1 says.

use sha2::{Digest as _, Sha256};

pub type Hash = [u8; 32];

/// SHA-256 of nothing.
pub const EMPTY_ROOT: Hash = [
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27, 0xae, 0x41,
    0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
];

pub fn leaf_hash(entry: &[u8]) -> Hash {
    Sha256::new_with_prefix([0]).chain_update(entry).finalize().into()
}

pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    Sha256::new_with_prefix([1]).chain_update(left).chain_update(right).finalize().into()
}

/// The roots of the complete trees, each a power of two wide, into which this row of hashes divides: the widest, leftmost, first.
pub fn complete_roots(mut row: &[Hash]) -> Vec<Hash> {
    let mut roots = Vec::new();
    while !row.is_empty() {
        let (complete, rest) = row.split_at(1 << row.len().ilog2());
        roots.extend(complete_root(complete));
        row = rest;
    }
    roots
}

/// The root of a row whose width is a power of two.
fn complete_root(row: &[Hash]) -> Option<Hash> {
    let mut row = row.to_vec();
    while row.len() > 1 {
        row = row.as_chunks().0.iter().map(|[left, right]| node_hash(left, right)).collect();
    }
    row.pop()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_empty_root_is_the_hash_of_nothing() {
        assert_eq!(EMPTY_ROOT, <Hash>::from(Sha256::digest([])));
    }

    /// Test data of the reference implementation of RFC 6962: certificate-transparency, merkle_tree_test.cc.
    #[test]
    fn leaves_and_nodes_have_different_hashes() {
        let empty_leaf = "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d";
        assert_eq!(hex::encode(leaf_hash(b"")), empty_leaf);
        let pair = "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125";
        assert_eq!(hex::encode(node_hash(&leaf_hash(b""), &leaf_hash(&[0]))), pair);
    }
}
