// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

/// A tree whose leaves and nodes are tagged, so that neither passes for the other. The last node of an odd level is
/// paired with itself and adds nothing to a proof, which is why a proof needs the number of leaves.
library MerkleTree {
    function leafOf(bytes32 recordHash) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(hex"00", recordHash));
    }

    function nodeOf(bytes32 left, bytes32 right) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(hex"01", left, right));
    }

    /// Of at least one leaf.
    function rootOf(bytes32[] memory level) internal pure returns (bytes32) {
        for (uint256 size = level.length; size > 1; size = (size + 1) / 2) {
            for (uint256 i = 0; i < size; i += 2) {
                level[i / 2] = nodeOf(level[i], level[i + 1 < size ? i + 1 : i]);
            }
        }
        return level[0];
    }

    function verify(bytes32 root, bytes32 leaf, bytes32[] calldata proof, uint256 index, uint256 count)
        internal
        pure
        returns (bool)
    {
        if (root == 0 || index >= count) return false;
        bytes32 node = leaf;
        uint256 used = 0;
        for (uint256 size = count; size > 1; size = (size + 1) / 2) {
            if (index % 2 == 0 && index + 1 == size) {
                node = nodeOf(node, node);
            } else {
                if (used == proof.length) return false;
                bytes32 sibling = proof[used++];
                node = index % 2 == 0 ? nodeOf(node, sibling) : nodeOf(sibling, node);
            }
            index /= 2;
        }
        return used == proof.length && node == root;
    }
}
