//! The hash tree over the lines: the untagged one of the network's audit exports, not that of memory anchors.

use plugin_api::Hash256;

/// Pairs are hashed from the leaves up, an odd one with itself. The root of one leaf is the leaf, that of none the hash of nothing.
pub fn root(leaves: Vec<Hash256>) -> Hash256 {
    let mut level = leaves;
    while level.len() > 1 {
        level = level.chunks(2).map(node).collect();
    }
    level.pop().unwrap_or_else(|| Hash256::keccak(b""))
}

fn node(pair: &[Hash256]) -> Hash256 {
    let (left, right) = match pair {
        [left, right] => (left, right),
        [odd, ..] => (odd, odd),
        [] => return Hash256::keccak(b""),
    };
    Hash256::keccak(&[left.0, right.0].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root_of(texts: &[&str]) -> String {
        root(texts.iter().map(|text| Hash256::keccak(text.as_bytes())).collect()).to_string()
    }

    #[test]
    fn the_root_is_that_of_the_networks_vectors() {
        let vector = "0x31eedffcfe27e25510b2e05153508eeb28c7ba2d94ede2e147d01a395cd855ef";
        assert_eq!(root_of(&["r1", "r2", "r3"]), vector);
        assert_eq!(root_of(&["r1", "r2", "r3", "r3"]), vector, "an odd leaf is paired with itself");
        assert_eq!(root_of(&["r1"]), Hash256::keccak(b"r1").to_string());
        assert_eq!(root_of(&[]), "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
    }
}
