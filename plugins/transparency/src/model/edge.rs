//! The right edge of a tree: what is needed to append leaves and to compute the root. At most 8 tiles, however large the tree.

use super::hash::{EMPTY_ROOT, Hash, complete_roots, node_hash};

/// Hashes of a full tile.
pub const TILE_WIDTH: usize = 256;
/// 256 to the power of 8 leaves.
const LEVELS: usize = 8;
const BITS_PER_LEVEL: u32 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TileId {
    pub level: u8,
    pub index: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    pub id: TileId,
    pub hashes: Vec<Hash>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    size: u64,
    /// The partial tile of each level: what a full tile has is in the level above.
    levels: [Vec<Hash>; LEVELS],
}

impl Edge {
    /// The edge of a tree of this size, whose tiles `find` reads; they may be wider by now. `None` when one is missing or too short.
    pub fn of(size: u64, find: impl Fn(TileId) -> Option<Vec<Hash>>) -> Option<Self> {
        let mut edge = Self { size, ..Self::default() };
        for (id, width) in Self::tiles_of(size) {
            let mut hashes = find(id).filter(|hashes| hashes.len() >= width)?;
            hashes.truncate(width);
            *edge.levels.get_mut(usize::from(id.level))? = hashes;
        }
        Some(edge)
    }

    /// The partial tiles of a tree of this size, with their widths.
    pub fn tiles_of(size: u64) -> Vec<(TileId, usize)> {
        let partial = |level: u8| {
            let hashes = size >> (BITS_PER_LEVEL * u32::from(level));
            let width = usize::try_from(hashes % TILE_WIDTH as u64).unwrap_or_default();
            (TileId { level, index: hashes / TILE_WIDTH as u64 }, width)
        };
        (0..).take(LEVELS).map(partial).filter(|(_, width)| *width > 0).collect()
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends a leaf; adds the tiles that it makes full.
    pub fn append(&mut self, leaf: Hash, full: &mut Vec<Tile>) {
        self.size += 1;
        let mut hash = leaf;
        for (level, hashes) in (0..).zip(&mut self.levels) {
            hashes.push(hash);
            if hashes.len() < TILE_WIDTH {
                return;
            }
            let hashes = std::mem::take(hashes);
            hash = complete_roots(&hashes).into_iter().next().unwrap_or(EMPTY_ROOT);
            let index = (self.size >> (BITS_PER_LEVEL * (u32::from(level) + 1))) - 1;
            full.push(Tile { id: TileId { level, index }, hashes });
        }
    }

    /// The tiles that are not full.
    pub fn partial_tiles(&self) -> Vec<Tile> {
        let tiles = Self::tiles_of(self.size).into_iter();
        let tile = |(id, _): (TileId, usize)| {
            let hashes = self.levels.get(usize::from(id.level))?.clone();
            Some(Tile { id, hashes })
        };
        tiles.filter_map(tile).collect()
    }

    pub fn root(&self) -> Hash {
        // Of the highest level first: from left to right.
        let complete = self.levels.iter().rev().flat_map(|hashes| complete_roots(hashes));
        let complete: Vec<Hash> = complete.collect();
        complete.into_iter().rev().reduce(|right, left| node_hash(&left, &right)).unwrap_or(EMPTY_ROOT)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "tests")]
mod tests {
    use super::{super::leaf_hash, *};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// MTH of RFC 6962 §2.1, literally.
    fn tree_hash(leaves: &[Hash]) -> Hash {
        match leaves {
            [] => EMPTY_ROOT,
            [leaf] => *leaf,
            _ => {
                let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
                node_hash(&tree_hash(left), &tree_hash(right))
            }
        }
    }

    fn leaves(count: usize) -> Vec<Hash> {
        (0..count).map(|number| leaf_hash(&number.to_be_bytes())).collect()
    }

    /// The edge, and all tiles as a database has them.
    fn build(leaves: &[Hash]) -> (Edge, BTreeMap<TileId, Vec<Hash>>) {
        let (mut edge, mut tiles, mut full) = (Edge::default(), BTreeMap::new(), Vec::new());
        leaves.iter().for_each(|leaf| edge.append(*leaf, &mut full));
        for tile in full.into_iter().chain(edge.partial_tiles()) {
            assert!(tiles.insert(tile.id, tile.hashes).is_none(), "{:?} twice", tile.id);
        }
        (edge, tiles)
    }

    /// Test data of the reference implementation of RFC 6962: certificate-transparency, merkle_tree_test.cc.
    #[test]
    fn roots_of_the_reference_implementation() {
        let inputs =
            ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
        let roots = [
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ];
        let mut edge = Edge::default();
        assert_eq!(edge.root(), EMPTY_ROOT);
        for (input, root) in inputs.iter().zip(roots) {
            edge.append(leaf_hash(&hex::decode(input).unwrap()), &mut Vec::new());
            assert_eq!(hex::encode(edge.root()), root, "{input}");
        }
    }

    /// The examples of C2SP tlog-tiles.
    #[test]
    fn partial_tiles_are_those_of_the_specification() {
        let of = |size| -> Vec<(u8, u64, usize)> {
            Edge::tiles_of(size).into_iter().map(|(id, width)| (id.level, id.index, width)).collect()
        };
        assert_eq!(of(70_000), [(0, 273, 112), (1, 1, 17), (2, 0, 1)]);
        assert_eq!(of(256), [(1, 0, 1)]);
        assert_eq!(of(0), []);
    }

    #[test]
    fn a_tree_of_three_levels_has_the_root_of_its_leaves() {
        let leaves = leaves(70_000);
        let (edge, tiles) = build(&leaves);
        assert_eq!(edge.root(), tree_hash(&leaves));
        assert_eq!(tiles.len(), 273 + 1 + 2 + 1);
        // Each earlier tree is in the same tiles.
        for size in [0, 1, 255, 256, 257, 65_535, 65_536, 65_537, 69_999, 70_000] {
            let then = Edge::of(size, |id| tiles.get(&id).cloned()).unwrap();
            assert_eq!(then.root(), tree_hash(&leaves[..size as usize]), "{size}");
        }
        assert!(Edge::of(70_001, |id| tiles.get(&id).cloned()).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn appending_in_parts_makes_the_same_tree(parts in prop::collection::vec(0..400_usize, 0..6)) {
            let all = leaves(parts.iter().sum());
            let (mut tiles, mut size) = (BTreeMap::new(), 0);
            for part in parts {
                let mut edge = Edge::of(size as u64, |id| tiles.get(&id).cloned()).unwrap();
                let mut full = Vec::new();
                all[size..size + part].iter().for_each(|leaf| edge.append(*leaf, &mut full));
                size += part;
                tiles.extend(full.into_iter().chain(edge.partial_tiles()).map(|tile| (tile.id, tile.hashes)));
                prop_assert_eq!(edge.root(), tree_hash(&all[..size]));
            }
            prop_assert_eq!(tiles, build(&all).1);
        }
    }
}
