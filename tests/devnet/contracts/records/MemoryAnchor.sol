// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {ANCHOR_NAME} from "../base/Brand.sol";
import {AgentRegistry} from "../jobs/AgentRegistry.sol";
import {AgentAccountFactory} from "../payments/AgentAccountFactory.sol";
import {AgentBound} from "./AgentBound.sol";
import {MerkleTree} from "./MerkleTree.sol";

/// Roots of batches of an agent's records, each of which names the one before it.
contract MemoryAnchor is AgentBound {
    struct Anchor {
        bytes32 root;
        bytes32 prevRoot;
        uint64 seq;
        uint32 count;
        uint64 totalRecords;
        uint64 ts;
        string uri;
    }

    bytes32 public constant ANCHOR_TYPEHASH = keccak256(
        "Anchor(uint256 agentId,bytes32 root,bytes32 prevRoot,uint32 count,string uri,uint256 nonce,uint64 deadline)"
    );

    mapping(uint256 agentId => uint256) public nonces;
    mapping(uint256 agentId => Anchor[]) private anchors;
    /// By owner too: a grant lapses with the owner who gave it.
    mapping(uint256 agentId => mapping(address owner => mapping(address who => bool))) private grants;

    event MemoryAnchored(
        uint256 indexed agentId,
        uint64 indexed seq,
        bytes32 indexed root,
        bytes32 prevRoot,
        uint32 count,
        uint64 totalRecords,
        address anchoredBy,
        string uri
    );
    event AnchorerSet(uint256 indexed agentId, address indexed who, bool allowed);

    error CountOverflow();
    error EmptyBatch();
    error PrevRootMismatch(bytes32 expected, bytes32 provided);
    error UnknownAnchor(uint256 agentId, uint64 seq);
    error ZeroRoot();

    constructor(AgentRegistry registry_, AgentAccountFactory factory_, address governance_)
        AgentBound(registry_, factory_, governance_)
    {}

    function NAME() public view override returns (string memory) {
        return ANCHOR_NAME;
    }

    function anchor(uint256 agentId, bytes32 root, bytes32 prevRoot, uint32 count, string calldata uri)
        external
        returns (uint64 seq)
    {
        if (!canAnchor(agentId, msg.sender)) revert NotAuthorized();
        return _anchor(agentId, root, prevRoot, count, uri);
    }

    /// Relayed by anyone, signed by the current owner.
    function anchorFor(
        uint256 agentId,
        bytes32 root,
        bytes32 prevRoot,
        uint32 count,
        string calldata uri,
        uint64 deadline,
        bytes calldata sig
    ) external returns (uint64 seq) {
        address owner = _ownerOf(agentId);
        bytes32 digest = hashAnchor(agentId, root, prevRoot, count, uri, nonces[agentId], deadline);
        _requireSignature(owner, digest, deadline, sig);
        nonces[agentId]++;
        return _anchor(agentId, root, prevRoot, count, uri);
    }

    function setAnchorer(uint256 agentId, address who, bool allowed) external {
        if (_ownerOf(agentId) != msg.sender) revert NotAuthorized();
        _requireAddress(who);
        grants[agentId][msg.sender][who] = allowed;
        emit AnchorerSet(agentId, who, allowed);
    }

    function head(uint256 agentId)
        external
        view
        returns (bytes32 root, uint64 seq, uint64 totalRecords, uint64 anchoredAt)
    {
        Anchor[] storage all = anchors[agentId];
        if (all.length == 0) return (0, 0, 0, 0);
        Anchor storage last = all[all.length - 1];
        return (last.root, last.seq, last.totalRecords, last.ts);
    }

    function anchorCount(uint256 agentId) external view returns (uint64) {
        return uint64(anchors[agentId].length);
    }

    function getAnchor(uint256 agentId, uint64 seq) external view returns (Anchor memory) {
        return _at(agentId, seq);
    }

    /// From `fromSeq` (0 is 1) on; nothing when it is past the end.
    function getAnchors(uint256 agentId, uint64 fromSeq, uint64 limit) external view returns (Anchor[] memory page) {
        uint256 first = fromSeq == 0 ? 0 : fromSeq - 1;
        uint256 size = anchors[agentId].length;
        size = first < size ? size - first : 0;
        if (size > limit) size = limit;
        page = new Anchor[](size);
        for (uint256 i = 0; i < size; i++) {
            page[i] = anchors[agentId][first + i];
        }
    }

    /// Whether the current owner has let it anchor.
    function isAnchorer(uint256 agentId, address who) public view returns (bool) {
        return grants[agentId][_ownerOf(agentId)][who];
    }

    function canAnchor(uint256 agentId, address who) public view returns (bool) {
        return _isOwnerOrAccount(_ownerOf(agentId), who) || isAnchorer(agentId, who);
    }

    function nonceOf(uint256 agentId) external view returns (uint256) {
        return nonces[agentId];
    }

    function leafOf(bytes32 recordHash) external pure returns (bytes32) {
        return MerkleTree.leafOf(recordHash);
    }

    function recordLeaf(bytes memory record) public pure returns (bytes32) {
        return MerkleTree.leafOf(keccak256(record));
    }

    function computeRoot(bytes32[] memory leaves) external pure returns (bytes32) {
        if (leaves.length == 0) revert EmptyBatch();
        return MerkleTree.rootOf(leaves);
    }

    function verify(bytes32 root, bytes calldata record, bytes32[] calldata proof, uint256 index, uint256 count)
        external
        pure
        returns (bool)
    {
        return MerkleTree.verify(root, recordLeaf(record), proof, index, count);
    }

    function verifyLeaf(bytes32 root, bytes32 leaf, bytes32[] calldata proof, uint256 index, uint256 count)
        external
        pure
        returns (bool)
    {
        return MerkleTree.verify(root, leaf, proof, index, count);
    }

    function verifyRecord(
        uint256 agentId,
        uint64 seq,
        bytes calldata record,
        bytes32[] calldata proof,
        uint256 index
    ) external view returns (bool) {
        Anchor storage entry = _at(agentId, seq);
        return MerkleTree.verify(entry.root, recordLeaf(record), proof, index, entry.count);
    }

    function verifyAgainstHead(uint256 agentId, bytes calldata record, bytes32[] calldata proof, uint256 index)
        external
        view
        returns (bool)
    {
        uint256 size = anchors[agentId].length;
        if (size == 0) return false;
        Anchor storage entry = anchors[agentId][size - 1];
        return MerkleTree.verify(entry.root, recordLeaf(record), proof, index, entry.count);
    }

    /// What the owner signs for `anchorFor`.
    function hashAnchor(
        uint256 agentId,
        bytes32 root,
        bytes32 prevRoot,
        uint32 count,
        string calldata uri,
        uint256 nonce,
        uint64 deadline
    ) public view returns (bytes32) {
        bytes32 uriHash = keccak256(bytes(uri));
        return _digest(
            keccak256(abi.encode(ANCHOR_TYPEHASH, agentId, root, prevRoot, count, uriHash, nonce, deadline))
        );
    }

    function registry() external view returns (address) {
        return address(agentRegistry);
    }

    function accountFactory() external view returns (address) {
        return address(factory);
    }

    function _anchor(uint256 agentId, bytes32 root, bytes32 prevRoot, uint32 count, string calldata uri)
        private
        returns (uint64 seq)
    {
        if (root == 0) revert ZeroRoot();
        if (count == 0) revert EmptyBatch();
        _requireShort(uri);
        Anchor[] storage all = anchors[agentId];
        bytes32 expected = all.length == 0 ? bytes32(0) : all[all.length - 1].root;
        if (prevRoot != expected) revert PrevRootMismatch(expected, prevRoot);
        uint64 before = all.length == 0 ? 0 : all[all.length - 1].totalRecords;
        if (before > type(uint64).max - count) revert CountOverflow();
        seq = uint64(all.length) + 1;
        all.push(Anchor(root, prevRoot, seq, count, before + count, uint64(block.timestamp), uri));
        emit MemoryAnchored(agentId, seq, root, prevRoot, count, before + count, msg.sender, uri);
    }

    function _at(uint256 agentId, uint64 seq) private view returns (Anchor storage) {
        if (seq == 0 || seq > anchors[agentId].length) revert UnknownAnchor(agentId, seq);
        return anchors[agentId][seq - 1];
    }
}
