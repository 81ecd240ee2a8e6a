//! The domain-tagged tree of a batch, as the contract MemoryAnchor computes it.
//!
//! The rule: leaves and nodes are tagged, so neither passes for the other. The last node of an odd level is paired with itself and
//! adds nothing to a proof; that is why a proof needs the number of leaves.

use plugin_api::Hash256;

const HASH_BYTES: usize = 32;

pub fn leaf_of(record_hash: Hash256) -> Hash256 {
    let mut bytes = [0; 1 + HASH_BYTES];
    bytes[1..].copy_from_slice(&record_hash.0);
    Hash256::keccak(&bytes)
}

fn node_of(left: Hash256, right: Hash256) -> Hash256 {
    let mut bytes = [1; 1 + 2 * HASH_BYTES];
    let (left_half, right_half) = bytes[1..].split_at_mut(HASH_BYTES);
    left_half.copy_from_slice(&left.0);
    right_half.copy_from_slice(&right.0);
    Hash256::keccak(&bytes)
}

/// The nodes of a tree, level by level, the leaves first and the root last: as they are stored.
pub struct Tree<Nodes> {
    nodes: Nodes,
    count: usize,
}

impl Tree<Vec<u8>> {
    /// Of at least one leaf.
    pub fn build(leaves: Vec<Hash256>) -> Self {
        let count = leaves.len();
        let mut nodes = Vec::with_capacity(2 * count * HASH_BYTES + 12 * HASH_BYTES);
        let mut level = leaves;
        loop {
            level.iter().for_each(|node| nodes.extend_from_slice(&node.0));
            if level.len() <= 1 {
                return Self { nodes, count };
            }
            let pair = |pair: &[Hash256]| match pair {
                [left, right] => node_of(*left, *right),
                rest => rest.first().map_or(Hash256([0; HASH_BYTES]), |odd| node_of(*odd, *odd)),
            };
            level = level.chunks(2).map(pair).collect();
        }
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.nodes
    }
}

impl<Nodes: AsRef<[u8]>> Tree<Nodes> {
    /// As it was stored.
    pub fn stored(nodes: Nodes, count: usize) -> Self {
        Self { nodes, count }
    }

    /// `None` of a stored tree that is broken.
    pub fn root(&self) -> Option<Hash256> {
        self.nodes.as_ref().last_chunk::<HASH_BYTES>().map(|bytes| Hash256(*bytes))
    }

    /// The siblings from the leaf up; `None` when there is no such leaf.
    pub fn proof(&self, index: usize) -> Option<Vec<Hash256>> {
        if index >= self.count {
            return None;
        }
        let (mut proof, mut start, mut size, mut index) = (Vec::new(), 0, self.count, index);
        while size > 1 {
            let sibling = index ^ 1;
            if sibling < size {
                proof.push(self.node(start + sibling)?);
            }
            (start, size, index) = (start + size, size.div_ceil(2), index / 2);
        }
        Some(proof)
    }

    fn node(&self, place: usize) -> Option<Hash256> {
        let from = self.nodes.as_ref().get(place * HASH_BYTES..)?;
        from.first_chunk::<HASH_BYTES>().map(|bytes| Hash256(*bytes))
    }
}

/// As the contract's `verifyLeaf`.
pub fn verify(root: Hash256, leaf: Hash256, proof: &[Hash256], index: usize, count: usize) -> bool {
    if root == Hash256([0; HASH_BYTES]) || index >= count {
        return false;
    }
    let (mut node, mut siblings, mut size, mut index) = (leaf, proof.iter(), count, index);
    while size > 1 {
        if index % 2 == 0 && index + 1 == size {
            node = node_of(node, node);
        } else {
            let Some(sibling) = siblings.next() else { return false };
            node = if index % 2 == 0 { node_of(node, *sibling) } else { node_of(*sibling, node) };
        }
        (size, index) = (size.div_ceil(2), index / 2);
    }
    siblings.next().is_none() && node == root
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Leaves of the records `r1`, `r2`, ….
    fn leaves(count: usize) -> Vec<Hash256> {
        (1..=count).map(|number| leaf_of(Hash256::keccak(format!("r{number}").as_bytes()))).collect()
    }

    fn root(count: usize) -> String {
        Tree::build(leaves(count)).root().unwrap().to_string()
    }

    /// Vectors of the network's clients.
    #[test]
    fn roots_and_proofs_are_those_of_the_specification() {
        for (count, expected) in [
            (1, "0x745dda03218796713819625292edff6c30a6f99fc31c2cfbdd801f2a574a0ea8"),
            (2, "0x487932a18cec29ad80ae7feaaf1c9c8934784de3d66a80e739e54183ce40f91c"),
            (3, "0x352c620e7ff9f3a47c0be8c6d4d7afe2b7a33147c8f7c4cccb81324b2b799385"),
            (4, "0x42567df504bcf9fc299c7e53851f3bf3421efa603370444ee450505357b826db"),
            (5, "0x09a1a68c9915a5602f8b82f12d537431c2f67d036ba341af7687cdc692043c82"),
            (7, "0x06752023eabfd5556b254e0b14550f0ef22706315b1d60b62eb6e2235ff6df3b"),
        ] {
            assert_eq!(root(count), expected, "{count}");
        }
        let proof = |count, index| Tree::build(leaves(count)).proof(index).unwrap();
        let texts = |proof: Vec<Hash256>| proof.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(texts(proof(5, 4)), [root(4)]);
        assert_eq!(texts(proof(3, 2)), [root(2)]);
        assert_eq!(
            texts(proof(5, 2)),
            [
                "0xb154e5110f88a56cb6b1f573de23c81b005c605f4d3e9dd08429a9eb414a40e6".to_owned(),
                root(2),
                "0x63dce57dd6773cb9155d6fe5afa8777ad443857ef4cd223f6ad0e9551ae3d57e".to_owned(),
            ]
        );
    }

    #[test]
    fn every_leaf_of_every_size_has_a_proof_and_no_other_one_passes() {
        for count in (1..=20).chain([4096]) {
            let leaves = leaves(count);
            let tree = Tree::build(leaves.clone());
            let root = tree.root().unwrap();
            let tree = Tree::stored(tree.into_bytes(), count);
            for (index, leaf) in leaves.iter().enumerate() {
                let proof = tree.proof(index).unwrap();
                assert!(verify(root, *leaf, &proof, index, count), "{index} of {count}");
                let longer = [proof.clone(), vec![root]].concat();
                assert!(!verify(root, *leaf, &longer, index, count), "{index} of {count}: one more");
                if let Some((_, shorter)) = proof.split_last() {
                    assert!(!verify(root, *leaf, shorter, index, count), "{index} of {count}: one less");
                    let mut wrong = proof.clone();
                    wrong[0] = root;
                    assert!(!verify(root, *leaf, &wrong, index, count), "{index} of {count}: another one");
                }
            }
            assert_eq!(tree.proof(count), None);
            assert!(!verify(root, leaves[0], &[], count, count), "no such leaf");
        }
    }

    #[test]
    fn nothing_verifies_against_nothing() {
        let leaf = leaves(1)[0];
        assert!(!verify(Hash256([0; 32]), leaf, &[], 0, 1));
        assert!(!verify(leaf, leaf, &[], 0, 0));
        // Three leaves have the root of four whose last is the third again; the number tells them apart.
        let (three, mut four) = (leaves(3), leaves(3));
        four.push(three[2]);
        assert_eq!(Tree::build(three.clone()).root(), Tree::build(four.clone()).root());
        let (root, proof) = (Tree::build(four.clone()).root().unwrap(), Tree::build(four).proof(3).unwrap());
        assert!(verify(root, three[2], &proof, 3, 4) && !verify(root, three[2], &proof, 3, 3));
    }
}
