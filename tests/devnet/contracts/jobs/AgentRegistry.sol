// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {Governed} from "../base/Governed.sol";
import {Payout} from "../base/Payout.sol";

/// Agents, their owners and bonds. An id, once issued, keeps its name and counters whoever owns it.
contract AgentRegistry is Governed, Payout {
    enum Status {
        None,
        Active,
        Paused,
        Retired
    }

    struct Agent {
        address owner;
        string name;
        string endpoint;
        string metadataURI;
        uint256 pricePerJob;
        uint256 bond;
        uint64 registeredAt;
        uint64 retiredAt;
        Status status;
        uint32 jobsCompleted;
        uint32 jobsFailed;
        uint32 ratingCount;
        uint32 ratingSum;
    }

    uint64 public constant BOND_COOLDOWN = 7 days;

    mapping(uint256 id => Agent) private agents;
    /// The last id issued.
    uint256 public nextId;
    uint256 public minBond;
    address public escrow;

    event AgentRegistered(
        uint256 indexed id,
        address indexed owner,
        string name,
        string endpoint,
        string metadataURI,
        uint256 pricePerJob,
        uint256 bond
    );
    event AgentUpdated(uint256 indexed id, string endpoint, string metadataURI, uint256 pricePerJob);
    event AgentStatusChanged(uint256 indexed id, Status status);
    event BondChanged(uint256 indexed id, uint256 bond);
    event AgentSlashed(uint256 indexed id, uint256 amount, address to, string reason);
    event OutcomeRecorded(uint256 indexed id, bool success, uint8 rating);
    event OwnershipTransferred(uint256 indexed id, address indexed from, address indexed to);
    event EscrowSet(address indexed escrow);
    event MinBondChanged(uint256 minBond);

    error CooldownActive(uint64 availableAt);
    error EscrowAlreadySet();
    error InsufficientBond(uint256 provided, uint256 required);
    error InvalidName();
    error InvalidRating();
    error InvalidStatusTransition();
    error NotEscrow();
    error NotOwner();
    error NotRetired();
    error SlashExceedsBond(uint256 requested, uint256 bond);
    error StringTooLong();
    error UnknownAgent();
    error ZeroValue();

    constructor(address governance_, uint256 minBond_) Governed(governance_) {
        minBond = minBond_;
    }

    modifier onlyOwner(uint256 id) {
        if (_known(id).owner != msg.sender) revert NotOwner();
        _;
    }

    function register(string calldata name, string calldata endpoint, string calldata metadataURI, uint256 pricePerJob)
        external
        payable
        returns (uint256 id)
    {
        if (bytes(name).length == 0 || bytes(name).length > 64) revert InvalidName();
        _requireShort(endpoint, metadataURI);
        if (msg.value < minBond) revert InsufficientBond(msg.value, minBond);
        id = ++nextId;
        Agent storage agent = agents[id];
        agent.owner = msg.sender;
        agent.name = name;
        agent.endpoint = endpoint;
        agent.metadataURI = metadataURI;
        agent.pricePerJob = pricePerJob;
        agent.bond = msg.value;
        agent.registeredAt = uint64(block.timestamp);
        agent.status = Status.Active;
        emit AgentRegistered(id, msg.sender, name, endpoint, metadataURI, pricePerJob, msg.value);
        emit AgentStatusChanged(id, Status.Active);
        emit BondChanged(id, msg.value);
    }

    /// Replaces all three, in any status.
    function update(uint256 id, string calldata endpoint, string calldata metadataURI, uint256 pricePerJob)
        external
        onlyOwner(id)
    {
        _requireShort(endpoint, metadataURI);
        Agent storage agent = agents[id];
        agent.endpoint = endpoint;
        agent.metadataURI = metadataURI;
        agent.pricePerJob = pricePerJob;
        emit AgentUpdated(id, endpoint, metadataURI, pricePerJob);
    }

    function setStatus(uint256 id, uint8 s) external onlyOwner(id) {
        Status from = agents[id].status;
        bool pauses = from == Status.Active && s == uint8(Status.Paused);
        bool resumes = from == Status.Paused && s == uint8(Status.Active);
        if (!pauses && !resumes) revert InvalidStatusTransition();
        _setStatus(id, Status(s));
    }

    function retire(uint256 id) external onlyOwner(id) {
        if (agents[id].status == Status.Retired) revert InvalidStatusTransition();
        agents[id].retiredAt = uint64(block.timestamp);
        _setStatus(id, Status.Retired);
    }

    function withdrawBond(uint256 id) external nonReentrant onlyOwner(id) {
        Agent storage agent = agents[id];
        if (agent.status != Status.Retired) revert NotRetired();
        uint64 availableAt = agent.retiredAt + BOND_COOLDOWN;
        if (block.timestamp < availableAt) revert CooldownActive(availableAt);
        uint256 bond = agent.bond;
        if (bond == 0) revert NothingToWithdraw();
        _setBond(id, 0);
        _pay(msg.sender, bond);
    }

    function topUpBond(uint256 id) external payable {
        uint256 bond = _known(id).bond;
        if (msg.value == 0) revert ZeroValue();
        _setBond(id, bond + msg.value);
    }

    function transferOwnership(uint256 id, address newOwner) external onlyOwner(id) {
        _requireAddress(newOwner);
        agents[id].owner = newOwner;
        emit OwnershipTransferred(id, msg.sender, newOwner);
    }

    function slash(uint256 id, uint256 amount, address to, string calldata reason)
        external
        onlyGovernance
        nonReentrant
    {
        uint256 bond = _known(id).bond;
        _requireAddress(to);
        if (amount == 0) revert ZeroValue();
        if (amount > bond) revert SlashExceedsBond(amount, bond);
        emit AgentSlashed(id, amount, to, reason);
        _setBond(id, bond - amount);
        _pay(to, amount);
    }

    /// A rating of 0 is none.
    function recordOutcome(uint256 id, bool success, uint8 rating) external {
        if (msg.sender != escrow) revert NotEscrow();
        if (rating > 5) revert InvalidRating();
        Agent storage agent = _known(id);
        if (success) agent.jobsCompleted++;
        else agent.jobsFailed++;
        if (rating > 0) {
            agent.ratingCount++;
            agent.ratingSum += rating;
        }
        emit OutcomeRecorded(id, success, rating);
    }

    function setMinBond(uint256 newMinBond) external onlyGovernance {
        minBond = newMinBond;
        emit MinBondChanged(newMinBond);
    }

    /// Once: what records outcomes must not change under the agents.
    function setEscrow(address escrow_) external onlyGovernance {
        if (escrow != address(0)) revert EscrowAlreadySet();
        _requireAddress(escrow_);
        escrow = escrow_;
        emit EscrowSet(escrow_);
    }

    /// Zeros for an unknown id.
    function getAgent(uint256 id) external view returns (Agent memory) {
        return agents[id];
    }

    /// A raised minimum or a slash takes this away without an event.
    function isActive(uint256 id) external view returns (bool) {
        Agent storage agent = agents[id];
        return agent.status == Status.Active && agent.bond >= minBond;
    }

    function _known(uint256 id) private view returns (Agent storage agent) {
        agent = agents[id];
        if (agent.owner == address(0)) revert UnknownAgent();
    }

    function _setStatus(uint256 id, Status status) private {
        agents[id].status = status;
        emit AgentStatusChanged(id, status);
    }

    function _setBond(uint256 id, uint256 bond) private {
        agents[id].bond = bond;
        emit BondChanged(id, bond);
    }

    function _requireShort(string calldata endpoint, string calldata metadataURI) private pure {
        if (bytes(endpoint).length > 256 || bytes(metadataURI).length > 256) revert StringTooLong();
    }
}
