//! The untagged tree over leaves.
//!
//! The rule: this tree is not that of the contract `MemoryAnchor`, whose leaves and nodes are tagged. `[a, b, c]` and `[a, b, c, c]`
//! have one root here, which is why the document's hash covers the whole document.

use plugin_api::Hash256;

/// Pairs from the leaves up; an odd node is paired with itself. Without leaves it is the hash of nothing.
pub fn root(leaves: Vec<Hash256>) -> Hash256 {
    let mut level = leaves;
    while level.len() > 1 {
        let node = |left: Hash256, right: Hash256| Hash256::keccak(&[left.0, right.0].concat());
        let pair = |pair: &[Hash256]| match pair {
            [left, right] => node(*left, *right),
            rest => rest.first().map_or(Hash256([0; 32]), |odd| node(*odd, *odd)),
        };
        level = level.chunks(2).map(pair).collect();
    }
    level.first().copied().unwrap_or_else(|| Hash256::keccak(&[]))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// A vector of the network's clients.
    #[test]
    fn the_root_is_that_of_the_specification() {
        let leaves = ["r1", "r2", "r3"].map(|text| Hash256::keccak(text.as_bytes()));
        let expected = "0x31eedffcfe27e25510b2e05153508eeb28c7ba2d94ede2e147d01a395cd855ef";
        assert_eq!(root(leaves.into()).to_string(), expected);
        let [first, second, third] = leaves;
        assert_eq!(root(vec![first, second, third]), root(vec![first, second, third, third]));
        assert_ne!(root(vec![first, second]), root(vec![second, first]));
        assert_eq!(root(vec![first]), first);
        let empty = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
        assert_eq!(root(Vec::new()).to_string(), empty);
    }
}
