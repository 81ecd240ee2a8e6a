// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";
import {REGISTRIES_VERSION} from "../base/Brand.sol";
import {AgentRegistry} from "../jobs/AgentRegistry.sol";

/// The agents as ERC-721 tokens, to read: what would change an owner is refused with the place where to do it.
contract IdentityRegistry8004 {
    struct MetadataEntry {
        string metadataKey;
        bytes metadataValue;
    }

    string public constant name = "AgentIdentity";
    string public constant symbol = "AGENT";
    bytes32 private constant WALLET_KEY = keccak256("agentWallet");

    AgentRegistry public immutable registry;
    /// An agent without a URI of its own has the one made of these and its id.
    string public DEFAULT_URI_PREFIX;
    string public DEFAULT_URI_SUFFIX;

    mapping(uint256 agentId => string) private uris;
    mapping(uint256 agentId => mapping(string key => bytes)) private metadata;

    event MetadataSet(
        uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue
    );
    event URIUpdated(uint256 indexed agentId, string newURI, address indexed updatedBy);
    // The standards name these; nothing here emits them.
    event Registered(uint256 indexed agentId, string agentURI, address indexed owner);
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
    event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId);
    event ApprovalForAll(address indexed owner, address indexed operator, bool approved);

    error AgentWalletIsRegistryOwner();
    error NonexistentAgent(uint256 agentId);
    error NotAuthorized();
    error RegistrationViaAgentRegistry();
    error ReservedKey();
    error UseAgentRegistryTransferOwnership();
    error ZeroAddress();

    constructor(AgentRegistry registry_, string memory uriPrefix, string memory uriSuffix) {
        if (address(registry_) == address(0)) revert ZeroAddress();
        registry = registry_;
        DEFAULT_URI_PREFIX = uriPrefix;
        DEFAULT_URI_SUFFIX = uriSuffix;
    }

    modifier onlyAgentOwner(uint256 agentId) {
        if (ownerOf(agentId) != msg.sender) revert NotAuthorized();
        _;
    }

    /// Kept by agent, also when the owner changes.
    function setMetadata(uint256 agentId, string calldata metadataKey, bytes calldata metadataValue)
        external
        onlyAgentOwner(agentId)
    {
        if (_isWallet(metadataKey)) revert ReservedKey();
        metadata[agentId][metadataKey] = metadataValue;
        emit MetadataSet(agentId, metadataKey, metadataKey, metadataValue);
    }

    function setAgentURI(uint256 agentId, string calldata newURI) external onlyAgentOwner(agentId) {
        uris[agentId] = newURI;
        emit URIUpdated(agentId, newURI, msg.sender);
    }

    /// The wallet is the owner's address, 20 bytes, or nothing for an unknown agent.
    function getMetadata(uint256 agentId, string calldata metadataKey) external view returns (bytes memory) {
        if (!_isWallet(metadataKey)) return metadata[agentId][metadataKey];
        address owner = _ownerOf(agentId);
        return owner == address(0) ? bytes("") : abi.encodePacked(owner);
    }

    function agentURI(uint256 agentId) public view returns (string memory) {
        ownerOf(agentId);
        string memory uri = uris[agentId];
        if (bytes(uri).length > 0) return uri;
        return string.concat(DEFAULT_URI_PREFIX, Strings.toString(agentId), DEFAULT_URI_SUFFIX);
    }

    function tokenURI(uint256 tokenId) external view returns (string memory) {
        return agentURI(tokenId);
    }

    function ownerOf(uint256 tokenId) public view returns (address owner) {
        owner = _ownerOf(tokenId);
        if (owner == address(0)) revert NonexistentAgent(tokenId);
    }

    function getAgentWallet(uint256 agentId) external view returns (address) {
        return ownerOf(agentId);
    }

    function isAuthorizedOrOwner(address spender, uint256 agentId) external view returns (bool) {
        return spender != address(0) && spender == _ownerOf(agentId);
    }

    /// Looks at every agent: for calls that nobody pays for.
    function balanceOf(address owner) external view returns (uint256 count) {
        if (owner == address(0)) revert ZeroAddress();
        uint256 last = registry.nextId();
        for (uint256 id = 1; id <= last; id++) {
            if (_ownerOf(id) == owner) count++;
        }
    }

    function totalSupply() external view returns (uint256) {
        return registry.nextId();
    }

    function getVersion() external pure returns (string memory) {
        return REGISTRIES_VERSION;
    }

    /// ERC-165, ERC-721 and its metadata.
    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0x80ac58cd || id == 0x5b5e139f;
    }

    function register() external {
        revert RegistrationViaAgentRegistry();
    }

    function register(string calldata) external {
        revert RegistrationViaAgentRegistry();
    }

    function register(string calldata, MetadataEntry[] calldata) external {
        revert RegistrationViaAgentRegistry();
    }

    function setAgentWallet(uint256, address, uint256, bytes calldata) external {
        revert AgentWalletIsRegistryOwner();
    }

    function unsetAgentWallet(uint256) external {
        revert AgentWalletIsRegistryOwner();
    }

    function transferFrom(address, address, uint256) external {
        revert UseAgentRegistryTransferOwnership();
    }

    function safeTransferFrom(address, address, uint256) external {
        revert UseAgentRegistryTransferOwnership();
    }

    function safeTransferFrom(address, address, uint256, bytes calldata) external {
        revert UseAgentRegistryTransferOwnership();
    }

    function approve(address, uint256) external {
        revert UseAgentRegistryTransferOwnership();
    }

    function setApprovalForAll(address, bool) external {
        revert UseAgentRegistryTransferOwnership();
    }

    function _ownerOf(uint256 agentId) private view returns (address) {
        return registry.getAgent(agentId).owner;
    }

    function _isWallet(string calldata key) private pure returns (bool) {
        return keccak256(bytes(key)) == WALLET_KEY;
    }
}
