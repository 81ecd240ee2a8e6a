// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {ENDORSEMENTS_NAME} from "../base/Brand.sol";
import {AgentRegistry} from "../jobs/AgentRegistry.sol";
import {ServiceEscrow} from "../jobs/ServiceEscrow.sol";
import {AgentAccountFactory} from "../payments/AgentAccountFactory.sol";
import {AgentBound} from "./AgentBound.sol";

/// One agent vouches for a capability of another. It weighs something only with paid work of the endorsing agent, done
/// for somebody else, as evidence; the weight is that of the moment.
contract Endorsements is AgentBound {
    enum Basis {
        Unbacked,
        PaidWork
    }

    struct Endorsement {
        uint64 fromAgentId;
        uint64 toAgentId;
        uint64 evidenceJobId;
        uint32 weight;
        address endorser;
        bool revoked;
        Basis basis;
        uint64 ts;
        uint256 evidenceAmountWei;
        bytes32 capabilityId;
        string capability;
        string uri;
    }

    /// `total` counts all there ever were: backed, unbacked and revoked.
    struct Summary {
        uint32 total;
        uint32 backed;
        uint32 unbacked;
        uint32 revoked;
        uint128 weight;
    }

    struct Evidence {
        uint64 jobId;
        uint32 weight;
        Basis basis;
        uint256 amountWei;
    }

    bytes32 private constant ENDORSE_TYPEHASH = keccak256(
        "Endorse(uint256 fromAgentId,uint256 toAgentId,string capability,string uri,uint256 evidenceJobId,uint256 nonce,uint64 deadline)"
    );
    bytes32 private constant REVOKE_TYPEHASH =
        keccak256("Revoke(uint256 endorsementId,uint256 nonce,uint64 deadline)");
    uint256 private constant PAID_MIN_WEI = 1 ether;
    uint256 private constant UNRATED = 3;

    ServiceEscrow private immutable escrow;
    uint256 public minPaidWei = PAID_MIN_WEI;
    uint32 public weightCap = 1000;
    /// The last id issued.
    uint256 public nextId;
    mapping(uint256 fromAgentId => uint256) public nonces;
    /// The endorsement that stands, if there is one.
    mapping(uint256 fromAgentId => mapping(uint256 toAgentId => mapping(bytes32 capabilityId => uint256))) public edgeOf;

    mapping(uint256 id => Endorsement) private endorsements;
    mapping(uint256 agentId => uint256[]) private received;
    mapping(uint256 agentId => uint256[]) private given;
    mapping(uint256 agentId => Summary) private summaries;
    mapping(uint256 agentId => mapping(bytes32 capabilityId => Summary)) private byCapability;

    event Endorsed(
        uint256 indexed id,
        uint256 indexed fromAgentId,
        uint256 indexed toAgentId,
        bytes32 capabilityId,
        string capability,
        uint8 basis,
        uint32 weight,
        uint64 evidenceJobId,
        uint256 evidenceAmountWei,
        string uri
    );
    event EndorsementRevoked(
        uint256 indexed id, uint256 indexed fromAgentId, uint256 indexed toAgentId, uint32 weight
    );
    event MinPaidWeiChanged(uint256 minPaidWei);
    event WeightCapChanged(uint32 weightCap);

    error AlreadyEndorsed(uint256 existingId);
    error AlreadyRevoked(uint256 id);
    error EvidenceNotArmsLength(address client);
    error EvidenceNotCompleted(uint8 status);
    error EvidenceNotOwnWork(uint256 jobAgentId);
    error EvidenceTooSmall(uint256 amount, uint256 required);
    error InvalidCapability();
    error SelfEndorsement();
    error UnknownEndorsement(uint256 id);

    constructor(AgentRegistry registry_, ServiceEscrow escrow_, AgentAccountFactory factory_, address governance_)
        AgentBound(registry_, factory_, governance_)
    {
        _requireAddress(address(escrow_));
        escrow = escrow_;
    }

    function NAME() public view override returns (string memory) {
        return ENDORSEMENTS_NAME;
    }

    function endorse(
        uint256 fromAgentId,
        uint256 toAgentId,
        string calldata capability,
        string calldata uri,
        uint256 evidenceJobId
    ) external returns (uint256 id) {
        if (!canActFor(fromAgentId, msg.sender)) revert NotAuthorized();
        return _endorse(fromAgentId, toAgentId, capability, uri, evidenceJobId);
    }

    /// Relayed by anyone, signed by the current owner of the endorsing agent.
    function endorseFor(
        uint256 fromAgentId,
        uint256 toAgentId,
        string calldata capability,
        string calldata uri,
        uint256 evidenceJobId,
        uint64 deadline,
        bytes calldata sig
    ) external returns (uint256 id) {
        bytes32 digest = hashEndorse(
            fromAgentId, toAgentId, capability, uri, evidenceJobId, nonces[fromAgentId], deadline
        );
        _requireSignature(_ownerOf(fromAgentId), digest, deadline, sig);
        nonces[fromAgentId]++;
        return _endorse(fromAgentId, toAgentId, capability, uri, evidenceJobId);
    }

    function revoke(uint256 id) external {
        Endorsement storage endorsement = _standing(id);
        if (!canActFor(endorsement.fromAgentId, msg.sender)) revert NotAuthorized();
        _revoke(id);
    }

    function revokeFor(uint256 id, uint64 deadline, bytes calldata sig) external {
        uint256 from = _standing(id).fromAgentId;
        _requireSignature(_ownerOf(from), hashRevoke(id, nonces[from], deadline), deadline, sig);
        nonces[from]++;
        _revoke(id);
    }

    function setMinPaidWei(uint256 newMin) external onlyGovernance {
        minPaidWei = newMin;
        emit MinPaidWeiChanged(newMin);
    }

    function setWeightCap(uint32 newCap) external onlyGovernance {
        weightCap = newCap;
        emit WeightCapChanged(newCap);
    }

    function getEndorsement(uint256 id) external view returns (Endorsement memory) {
        return _known(id);
    }

    function summary(uint256 toAgentId) external view returns (Summary memory) {
        return summaries[toAgentId];
    }

    function capabilitySummary(uint256 toAgentId, string calldata capability) external view returns (Summary memory) {
        return byCapability[toAgentId][capabilityIdOf(capability)];
    }

    function capabilitySummaryById(uint256 toAgentId, bytes32 capabilityId) external view returns (Summary memory) {
        return byCapability[toAgentId][capabilityId];
    }

    function receivedCount(uint256 toAgentId) external view returns (uint256) {
        return received[toAgentId].length;
    }

    function givenCount(uint256 fromAgentId) external view returns (uint256) {
        return given[fromAgentId].length;
    }

    function receivedIds(uint256 toAgentId, uint256 offset, uint256 limit) external view returns (uint256[] memory) {
        return _page(received[toAgentId], offset, limit);
    }

    function givenIds(uint256 fromAgentId, uint256 offset, uint256 limit) external view returns (uint256[] memory) {
        return _page(given[fromAgentId], offset, limit);
    }

    /// What an endorsement would weigh now; refused for the same reasons.
    function quoteWeight(uint256 fromAgentId, uint256 toAgentId, uint256 evidenceJobId)
        external
        view
        returns (uint32 weight, uint8 basis, uint256 evidenceAmountWei)
    {
        Evidence memory evidence = _evidence(fromAgentId, toAgentId, evidenceJobId);
        return (evidence.weight, uint8(evidence.basis), evidence.amountWei);
    }

    function canActFor(uint256 agentId, address who) public view returns (bool) {
        return _isOwnerOrAccount(_ownerOf(agentId), who);
    }

    /// The same address, an account and its owner, or two accounts of one owner.
    function isRelated(address a, address b) public view returns (bool) {
        address ownerA = _accountOwner(a);
        address ownerB = _accountOwner(b);
        if (a == b || ownerA == b || ownerB == a) return true;
        return ownerA != address(0) && ownerA == ownerB;
    }

    /// Case matters.
    function capabilityIdOf(string calldata capability) public pure returns (bytes32) {
        return keccak256(bytes(capability));
    }

    /// What the owner signs for `endorseFor`.
    function hashEndorse(
        uint256 fromAgentId,
        uint256 toAgentId,
        string calldata capability,
        string calldata uri,
        uint256 evidenceJobId,
        uint256 nonce,
        uint64 deadline
    ) public view returns (bytes32) {
        bytes32 capabilityHash = keccak256(bytes(capability));
        bytes32 uriHash = keccak256(bytes(uri));
        return _digest(
            keccak256(
                abi.encode(
                    ENDORSE_TYPEHASH, fromAgentId, toAgentId, capabilityHash, uriHash, evidenceJobId, nonce, deadline
                )
            )
        );
    }

    /// What the owner signs for `revokeFor`.
    function hashRevoke(uint256 endorsementId, uint256 nonce, uint64 deadline) public view returns (bytes32) {
        return _digest(keccak256(abi.encode(REVOKE_TYPEHASH, endorsementId, nonce, deadline)));
    }

    function _endorse(
        uint256 fromAgentId,
        uint256 toAgentId,
        string calldata capability,
        string calldata uri,
        uint256 evidenceJobId
    ) private returns (uint256 id) {
        if (bytes(capability).length == 0 || bytes(capability).length > 64) revert InvalidCapability();
        _requireShort(uri);
        Evidence memory evidence = _evidence(fromAgentId, toAgentId, evidenceJobId);
        bytes32 capabilityId = capabilityIdOf(capability);
        uint256 existing = edgeOf[fromAgentId][toAgentId][capabilityId];
        if (existing != 0) revert AlreadyEndorsed(existing);
        id = ++nextId;
        edgeOf[fromAgentId][toAgentId][capabilityId] = id;
        _store(id, fromAgentId, toAgentId, evidence, capabilityId);
        endorsements[id].capability = capability;
        endorsements[id].uri = uri;
        emit Endorsed(
            id,
            fromAgentId,
            toAgentId,
            capabilityId,
            capability,
            uint8(evidence.basis),
            evidence.weight,
            evidence.jobId,
            evidence.amountWei,
            uri
        );
    }

    function _store(uint256 id, uint256 from, uint256 to, Evidence memory evidence, bytes32 capabilityId) private {
        Endorsement storage endorsement = endorsements[id];
        endorsement.fromAgentId = uint64(from);
        endorsement.toAgentId = uint64(to);
        endorsement.evidenceJobId = evidence.jobId;
        endorsement.weight = evidence.weight;
        endorsement.endorser = _ownerOf(from);
        endorsement.basis = evidence.basis;
        endorsement.ts = uint64(block.timestamp);
        endorsement.evidenceAmountWei = evidence.amountWei;
        endorsement.capabilityId = capabilityId;
        given[from].push(id);
        received[to].push(id);
        _count(summaries[to], evidence);
        _count(byCapability[to][capabilityId], evidence);
    }

    /// Frees the place for another one; the record stays.
    function _revoke(uint256 id) private {
        Endorsement storage endorsement = endorsements[id];
        endorsement.revoked = true;
        (uint256 from, uint256 to) = (endorsement.fromAgentId, endorsement.toAgentId);
        edgeOf[from][to][endorsement.capabilityId] = 0;
        _discount(summaries[to], endorsement);
        _discount(byCapability[to][endorsement.capabilityId], endorsement);
        emit EndorsementRevoked(id, from, to, endorsement.weight);
    }

    function _evidence(uint256 fromAgentId, uint256 toAgentId, uint256 jobId)
        private
        view
        returns (Evidence memory evidence)
    {
        address from = _ownerOf(fromAgentId);
        address to = _ownerOf(toAgentId);
        if (isRelated(from, to)) revert SelfEndorsement();
        if (jobId == 0) return evidence;
        ServiceEscrow.Job memory job = escrow.getJob(jobId);
        if (job.status != ServiceEscrow.JobStatus.Completed) revert EvidenceNotCompleted(uint8(job.status));
        if (job.agentId != fromAgentId) revert EvidenceNotOwnWork(job.agentId);
        uint256 required = minPaidWei > PAID_MIN_WEI ? minPaidWei : PAID_MIN_WEI;
        if (job.amount < required) revert EvidenceTooSmall(job.amount, required);
        if (isRelated(job.client, from) || isRelated(job.client, to)) revert EvidenceNotArmsLength(job.client);
        return Evidence(uint64(jobId), _weight(fromAgentId, job.amount), Basis.PaidWork, job.amount);
    }

    function _weight(uint256 agentId, uint256 amount) private view returns (uint32) {
        AgentRegistry.Agent memory agent = agentRegistry.getAgent(agentId);
        uint256 rating = agent.ratingCount == 0 ? UNRATED : agent.ratingSum / agent.ratingCount;
        uint256 weight = (amount / 1e18) * rating;
        return weight > weightCap ? weightCap : uint32(weight);
    }

    function _count(Summary storage counts, Evidence memory evidence) private {
        counts.total++;
        counts.weight += evidence.weight;
        if (evidence.basis == Basis.PaidWork) counts.backed++;
        else counts.unbacked++;
    }

    function _discount(Summary storage counts, Endorsement storage endorsement) private {
        counts.revoked++;
        counts.weight -= endorsement.weight;
        if (endorsement.basis == Basis.PaidWork) counts.backed--;
        else counts.unbacked--;
    }

    function _known(uint256 id) private view returns (Endorsement storage endorsement) {
        endorsement = endorsements[id];
        if (endorsement.endorser == address(0)) revert UnknownEndorsement(id);
    }

    function _standing(uint256 id) private view returns (Endorsement storage endorsement) {
        endorsement = _known(id);
        if (endorsement.revoked) revert AlreadyRevoked(id);
    }

    function _page(uint256[] storage ids, uint256 offset, uint256 limit)
        private
        view
        returns (uint256[] memory page)
    {
        uint256 size = offset < ids.length ? ids.length - offset : 0;
        if (size > limit) size = limit;
        page = new uint256[](size);
        for (uint256 i = 0; i < size; i++) {
            page[i] = ids[offset + i];
        }
    }
}
