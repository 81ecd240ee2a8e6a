// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {REGISTRIES_VERSION} from "../base/Brand.sol";
import {IdentityRegistry8004} from "./IdentityRegistry8004.sol";

/// Scores that a named validator gives for work. A request is known by its hash, once in the whole contract.
contract ValidationRegistry8004 {
    struct Request {
        address validator;
        uint256 agentId;
        uint8 response;
        bool responded;
        bytes32 responseHash;
        string tag;
        uint256 lastUpdate;
    }

    IdentityRegistry8004 private immutable identity;
    mapping(bytes32 requestHash => Request) private requests;
    mapping(uint256 agentId => bytes32[]) private ofAgent;
    mapping(address validator => bytes32[]) private ofValidator;

    event ValidationRequest(
        address indexed validatorAddress, uint256 indexed agentId, string requestURI, bytes32 indexed requestHash
    );
    event ValidationResponse(
        address indexed validatorAddress,
        uint256 indexed agentId,
        bytes32 indexed requestHash,
        uint8 response,
        string responseURI,
        bytes32 responseHash,
        string tag
    );

    error NotAuthorized();
    error NotValidator();
    error RequestExists(bytes32 requestHash);
    error ResponseOutOfRange();
    error UnknownRequest(bytes32 requestHash);
    error ZeroAddress();

    constructor(IdentityRegistry8004 identity_) {
        if (address(identity_) == address(0)) revert ZeroAddress();
        identity = identity_;
    }

    /// By the agent's owner, or by the validator that the agent's metadata names.
    function validationRequest(
        address validatorAddress,
        uint256 agentId,
        string calldata requestURI,
        bytes32 requestHash
    ) external {
        if (validatorAddress == address(0)) revert ZeroAddress();
        // An unknown agent is refused in there.
        bool isOwner = identity.ownerOf(agentId) == msg.sender;
        bool isNamed = msg.sender == validatorAddress && _isNamedBy(agentId, validatorAddress);
        if (!isOwner && !isNamed) revert NotAuthorized();
        Request storage request = requests[requestHash];
        if (request.validator != address(0)) revert RequestExists(requestHash);
        request.validator = validatorAddress;
        request.agentId = agentId;
        request.lastUpdate = block.timestamp;
        ofAgent[agentId].push(requestHash);
        ofValidator[validatorAddress].push(requestHash);
        emit ValidationRequest(validatorAddress, agentId, requestURI, requestHash);
    }

    /// May be sent again; the last one counts.
    function validationResponse(
        bytes32 requestHash,
        uint8 response,
        string calldata responseURI,
        bytes32 responseHash,
        string calldata tag
    ) external {
        Request storage request = _known(requestHash);
        if (request.validator != msg.sender) revert NotValidator();
        if (response > 100) revert ResponseOutOfRange();
        request.response = response;
        request.responded = true;
        request.responseHash = responseHash;
        request.tag = tag;
        request.lastUpdate = block.timestamp;
        emit ValidationResponse(msg.sender, request.agentId, requestHash, response, responseURI, responseHash, tag);
    }

    /// A response of 0 is a score of 0 only if `hasResponse` says so.
    function getValidationStatus(bytes32 requestHash)
        external
        view
        returns (
            address validatorAddress,
            uint256 agentId,
            uint8 response,
            bytes32 responseHash,
            string memory tag,
            uint256 lastUpdate
        )
    {
        Request storage request = _known(requestHash);
        return (
            request.validator,
            request.agentId,
            request.response,
            request.responseHash,
            request.tag,
            request.lastUpdate
        );
    }

    function hasResponse(bytes32 requestHash) external view returns (bool) {
        return requests[requestHash].responded;
    }

    /// The mean of what was answered; no validators means all, an empty tag any.
    function getSummary(uint256 agentId, address[] calldata validatorAddresses, string calldata tag)
        external
        view
        returns (uint64 count, uint8 avgResponse)
    {
        uint256 sum = 0;
        bytes32[] storage hashes = ofAgent[agentId];
        for (uint256 i = 0; i < hashes.length; i++) {
            Request storage request = requests[hashes[i]];
            if (!request.responded || !_isAsked(request.validator, validatorAddresses)) continue;
            if (bytes(tag).length > 0 && keccak256(bytes(request.tag)) != keccak256(bytes(tag))) continue;
            sum += request.response;
            count++;
        }
        if (count > 0) avgResponse = uint8(sum / count);
    }

    function getAgentValidations(uint256 agentId) external view returns (bytes32[] memory) {
        return ofAgent[agentId];
    }

    function getValidatorRequests(address validatorAddress) external view returns (bytes32[] memory) {
        return ofValidator[validatorAddress];
    }

    function getIdentityRegistry() external view returns (address) {
        return address(identity);
    }

    function getVersion() external pure returns (string memory) {
        return REGISTRIES_VERSION;
    }

    function _known(bytes32 requestHash) private view returns (Request storage request) {
        request = requests[requestHash];
        if (request.validator == address(0)) revert UnknownRequest(requestHash);
    }

    /// Exactly 20 bytes, or nobody is named.
    function _isNamedBy(uint256 agentId, address validator) private view returns (bool) {
        bytes memory named = identity.getMetadata(agentId, "validator");
        return named.length == 20 && bytes20(named) == bytes20(validator);
    }

    function _isAsked(address validator, address[] calldata asked) private pure returns (bool) {
        if (asked.length == 0) return true;
        for (uint256 i = 0; i < asked.length; i++) {
            if (asked[i] == validator) return true;
        }
        return false;
    }
}
