// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {Credits} from "../base/Credits.sol";
import {Fees} from "../base/Fees.sol";
import {Governed} from "../base/Governed.sol";
import {AgentRegistry} from "./AgentRegistry.sol";

/// Money for a job, held until it is delivered and accepted. Fee, windows and the agent's owner are those of the moment a
/// call settles, not of the request.
contract ServiceEscrow is Fees, Credits {
    enum JobStatus {
        None,
        Open,
        Delivered,
        Completed,
        Refunded,
        Disputed,
        Resolved
    }

    struct Job {
        uint256 agentId;
        address client;
        uint256 amount;
        bytes32 inputHash;
        bytes32 outputHash;
        string inputURI;
        string outputURI;
        uint64 createdAt;
        uint64 deliveredAt;
        JobStatus status;
    }

    uint16 public constant BPS = 10_000;
    uint16 public constant MAX_FEE_BPS = 1000;

    AgentRegistry public immutable registry;
    mapping(uint256 jobId => Job) private jobs;
    /// The last id issued.
    uint256 public nextJobId;
    uint64 public deliveryWindow = 86_400;
    uint64 public reviewWindow = 86_400;

    event JobRequested(
        uint256 indexed jobId,
        uint256 indexed agentId,
        address indexed client,
        uint256 amount,
        bytes32 inputHash,
        string inputURI
    );
    event JobDelivered(uint256 indexed jobId, bytes32 outputHash, string outputURI);
    event JobCompleted(uint256 indexed jobId, uint256 agentPayout, uint256 fee, uint8 rating);
    event JobRefunded(uint256 indexed jobId, uint256 amount, bool byAgent);
    event JobDisputed(uint256 indexed jobId);
    event JobResolved(uint256 indexed jobId, uint256 clientAmount, uint256 agentPayout, uint256 fee);
    event WindowsChanged(uint64 deliveryWindow, uint64 reviewWindow);

    error AgentNotActive(uint256 agentId);
    error CannotHireOwnAgent();
    error InsufficientPayment(uint256 provided, uint256 required);
    error InvalidBps();
    error InvalidRating();
    error InvalidWindow();
    error NotAgentOwner();
    error NotClient();
    error StringTooLong();
    error TooEarly(uint64 availableAt);
    error TooLate(uint64 deadline);
    error WrongStatus(uint8 current);

    constructor(AgentRegistry registry_, address governance_, address feeRecipient_)
        Governed(governance_)
        Fees(250, feeRecipient_)
    {
        _requireAddress(address(registry_));
        registry = registry_;
    }

    /// A job that is not in this status, an unknown one (None) included, refuses the call before all else.
    modifier inStatus(uint256 jobId, JobStatus expected) {
        JobStatus current = jobs[jobId].status;
        if (current != expected) revert WrongStatus(uint8(current));
        _;
    }

    modifier onlyClient(uint256 jobId) {
        if (jobs[jobId].client != msg.sender) revert NotClient();
        _;
    }

    modifier onlyAgentOwner(uint256 jobId) {
        if (_agentOwner(jobId) != msg.sender) revert NotAgentOwner();
        _;
    }

    function requestJob(uint256 agentId, bytes32 inputHash, string calldata inputURI)
        external
        payable
        returns (uint256 jobId)
    {
        _requireShort(inputURI);
        if (!registry.isActive(agentId)) revert AgentNotActive(agentId);
        AgentRegistry.Agent memory agent = registry.getAgent(agentId);
        if (agent.owner == msg.sender) revert CannotHireOwnAgent();
        if (msg.value < agent.pricePerJob) revert InsufficientPayment(msg.value, agent.pricePerJob);
        jobId = ++nextJobId;
        Job storage job = jobs[jobId];
        job.agentId = agentId;
        job.client = msg.sender;
        job.amount = msg.value;
        job.inputHash = inputHash;
        job.inputURI = inputURI;
        job.createdAt = uint64(block.timestamp);
        job.status = JobStatus.Open;
        emit JobRequested(jobId, agentId, msg.sender, msg.value, inputHash, inputURI);
    }

    /// Possible after the delivery window too, until the client takes the money back.
    function deliver(uint256 jobId, bytes32 outputHash, string calldata outputURI)
        external
        inStatus(jobId, JobStatus.Open)
        onlyAgentOwner(jobId)
    {
        _requireShort(outputURI);
        Job storage job = jobs[jobId];
        job.outputHash = outputHash;
        job.outputURI = outputURI;
        job.deliveredAt = uint64(block.timestamp);
        job.status = JobStatus.Delivered;
        emit JobDelivered(jobId, outputHash, outputURI);
    }

    function release(uint256 jobId, uint8 rating) external inStatus(jobId, JobStatus.Delivered) onlyClient(jobId) {
        if (rating > 5) revert InvalidRating();
        _complete(jobId, rating);
    }

    function claim(uint256 jobId) external inStatus(jobId, JobStatus.Delivered) onlyAgentOwner(jobId) {
        uint64 availableAt = jobs[jobId].deliveredAt + reviewWindow;
        if (block.timestamp < availableAt) revert TooEarly(availableAt);
        _complete(jobId, 0);
    }

    function refund(uint256 jobId) external inStatus(jobId, JobStatus.Open) onlyClient(jobId) {
        uint64 availableAt = jobs[jobId].createdAt + deliveryWindow;
        if (block.timestamp < availableAt) revert TooEarly(availableAt);
        _refund(jobId, false);
    }

    function cancel(uint256 jobId) external inStatus(jobId, JobStatus.Open) onlyAgentOwner(jobId) {
        _refund(jobId, true);
    }

    function dispute(uint256 jobId) external inStatus(jobId, JobStatus.Delivered) onlyClient(jobId) {
        uint64 deadline = jobs[jobId].deliveredAt + reviewWindow;
        if (block.timestamp >= deadline) revert TooLate(deadline);
        jobs[jobId].status = JobStatus.Disputed;
        emit JobDisputed(jobId);
    }

    /// The fee is taken from the agent's part only.
    function resolve(uint256 jobId, uint16 clientBps) external onlyGovernance inStatus(jobId, JobStatus.Disputed) {
        if (clientBps > BPS) revert InvalidBps();
        Job storage job = jobs[jobId];
        job.status = JobStatus.Resolved;
        uint256 toClient = (job.amount * clientBps) / BPS;
        (uint256 payout, uint256 fee) = _payAgent(jobId, job.amount - toClient);
        _credit(job.client, toClient);
        emit JobResolved(jobId, toClient, payout, fee);
        registry.recordOutcome(job.agentId, clientBps < 5000, 0);
    }

    function setWindows(uint64 delivery, uint64 review) external onlyGovernance {
        if (delivery == 0 || review == 0) revert InvalidWindow();
        deliveryWindow = delivery;
        reviewWindow = review;
        emit WindowsChanged(delivery, review);
    }

    /// Zeros for an unknown id.
    function getJob(uint256 jobId) external view returns (Job memory) {
        return jobs[jobId];
    }

    /// The escrow's event stands before the registry's in the log.
    function _complete(uint256 jobId, uint8 rating) private {
        Job storage job = jobs[jobId];
        job.status = JobStatus.Completed;
        (uint256 payout, uint256 fee) = _payAgent(jobId, job.amount);
        emit JobCompleted(jobId, payout, fee, rating);
        registry.recordOutcome(job.agentId, true, rating);
    }

    function _refund(uint256 jobId, bool byAgent) private {
        Job storage job = jobs[jobId];
        job.status = JobStatus.Refunded;
        _credit(job.client, job.amount);
        emit JobRefunded(jobId, job.amount, byAgent);
        registry.recordOutcome(job.agentId, false, 0);
    }

    function _payAgent(uint256 jobId, uint256 gross) private returns (uint256 payout, uint256 fee) {
        fee = _fee(gross);
        payout = gross - fee;
        _credit(_agentOwner(jobId), payout);
        _credit(feeRecipient, fee);
    }

    function _agentOwner(uint256 jobId) private view returns (address) {
        return registry.getAgent(jobs[jobId].agentId).owner;
    }

    function _requireShort(string calldata uri) private pure {
        if (bytes(uri).length > 256) revert StringTooLong();
    }
}
