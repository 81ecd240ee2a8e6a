// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {Governed} from "../base/Governed.sol";
import {Signed} from "../base/Signed.sol";
import {AgentRegistry} from "../jobs/AgentRegistry.sol";
import {AgentAccount} from "../payments/AgentAccount.sol";
import {AgentAccountFactory} from "../payments/AgentAccountFactory.sol";

/// Who may act for an agent: its owner, and accounts of the factory that this owner holds.
abstract contract AgentBound is Governed, Signed {
    AgentRegistry internal immutable agentRegistry;
    AgentAccountFactory internal immutable factory;
    uint16 public maxUriBytes = 256;

    event MaxUriBytesChanged(uint16 maxUriBytes);

    error BadSignature();
    error ExpiredSignature(uint64 deadline);
    error NotAuthorized();
    error StringTooLong();
    error UnknownAgent(uint256 agentId);

    constructor(AgentRegistry registry_, AgentAccountFactory factory_, address governance_) Governed(governance_) {
        _requireAddress(address(registry_));
        _requireAddress(address(factory_));
        agentRegistry = registry_;
        factory = factory_;
    }

    function setMaxUriBytes(uint16 newMax) external onlyGovernance {
        maxUriBytes = newMax;
        emit MaxUriBytesChanged(newMax);
    }

    function _ownerOf(uint256 agentId) internal view returns (address owner) {
        owner = agentRegistry.getAgent(agentId).owner;
        if (owner == address(0)) revert UnknownAgent(agentId);
    }

    function _isOwnerOrAccount(address owner, address who) internal view returns (bool) {
        return who == owner || _accountOwner(who) == owner;
    }

    /// Zero for what is no account of the factory.
    function _accountOwner(address who) internal view returns (address) {
        return factory.isAccount(who) ? AgentAccount(payable(who)).owner() : address(0);
    }

    function _requireShort(string calldata uri) internal view {
        if (bytes(uri).length > maxUriBytes) revert StringTooLong();
    }

    function _requireSignature(address signer, bytes32 digest, uint64 deadline, bytes calldata sig) internal view {
        if (block.timestamp > deadline) revert ExpiredSignature(deadline);
        if (!_isSignedBy(signer, digest, sig)) revert BadSignature();
    }
}
