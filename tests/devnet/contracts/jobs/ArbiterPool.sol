// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {Credits} from "../base/Credits.sol";
import {AgentRegistry} from "./AgentRegistry.sol";
import {ServiceEscrow} from "./ServiceEscrow.sol";

/// Staked arbiters who decide disputes. Closing a case needs this contract to be the escrow's governance.
contract ArbiterPool is Credits {
    struct Case {
        uint256 jobId;
        address opener;
        string evidenceURI;
        uint64 openedAt;
        uint16 result;
        uint8 votes;
        bool closed;
    }

    struct Vote {
        bool cast;
        uint16 clientBps;
    }

    uint256 public constant CASE_FEE = 1 ether;
    uint64 private constant LEAVE_COOLDOWN = 7 days;
    /// Who voted this near the result shares the fee.
    uint16 private constant REWARD_BAND_BPS = 2000;

    ServiceEscrow public immutable escrow;
    AgentRegistry public immutable registry;
    address public owner;
    uint256 public minStake = 500 ether;
    uint64 public votingWindow = 3 days;
    uint8 public quorum = 3;

    address[] public arbiters;
    mapping(address arbiter => uint256) public stake;
    mapping(address arbiter => uint64) public leaveAt;
    mapping(address arbiter => uint256) public pendingVotes;

    /// The last id issued.
    uint256 public nextCaseId;
    mapping(uint256 jobId => uint256) public caseOf;
    mapping(uint256 caseId => Case) private cases;
    mapping(uint256 caseId => mapping(address arbiter => Vote)) public getVote;
    mapping(uint256 caseId => address[]) private voters;
    mapping(uint256 caseId => string[]) private evidence;

    event ArbiterJoined(address indexed arbiter, uint256 stake);
    event ArbiterLeaving(address indexed arbiter, uint64 at);
    event ArbiterLeft(address indexed arbiter, uint256 stake);
    event CaseOpened(uint256 indexed caseId, uint256 indexed jobId, address indexed opener, string evidenceURI);
    event EvidenceSubmitted(uint256 indexed caseId, address indexed by, string uri);
    event Voted(uint256 indexed caseId, address indexed arbiter, uint16 clientBps);
    event CaseClosed(uint256 indexed caseId, uint256 indexed jobId, uint16 clientBps);
    event Rewarded(uint256 indexed caseId, address indexed arbiter, uint256 amount);
    event ParamsChanged(uint256 minStake, uint64 votingWindow, uint8 quorum);
    event OwnershipTransferred(address indexed previous, address indexed current);

    error AlreadyVoted();
    error BelowMinStake(uint256 total, uint256 required);
    error CaseClosedAlready();
    error CaseExists(uint256 caseId);
    error ConflictOfInterest();
    error CooldownActive(uint64 availableAt);
    error ForwardFailed();
    error InvalidBps();
    error InvalidParams();
    error JobNotDisputed();
    error Leaving();
    error NotArbiter();
    error NotClosable();
    error NotOwner();
    error NotParty();
    error StringTooLong();
    error UnknownCase();
    error VotesPending(uint256 count);
    error VotingClosed(uint64 closedAt);
    error WrongFee(uint256 provided, uint256 required);
    error ZeroAddress();
    error ZeroValue();

    constructor(address owner_, ServiceEscrow escrow_) {
        if (owner_ == address(0) || address(escrow_) == address(0)) revert ZeroAddress();
        owner = owner_;
        escrow = escrow_;
        registry = escrow_.registry();
        emit OwnershipTransferred(address(0), owner_);
    }

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner();
        _;
    }

    /// More stake of a member counts too, and takes back a wish to leave.
    function joinPool() external payable {
        if (msg.value == 0) revert ZeroValue();
        uint256 before = stake[msg.sender];
        uint256 total = before + msg.value;
        if (total < minStake) revert BelowMinStake(total, minStake);
        if (before == 0) arbiters.push(msg.sender);
        stake[msg.sender] = total;
        leaveAt[msg.sender] = 0;
        emit ArbiterJoined(msg.sender, total);
    }

    /// The first call ends voting, the second one, a week later, turns the stake into credit.
    function leavePool() external {
        uint256 staked = stake[msg.sender];
        if (staked == 0) revert NotArbiter();
        uint64 at = leaveAt[msg.sender];
        if (at == 0) {
            at = uint64(block.timestamp) + LEAVE_COOLDOWN;
            leaveAt[msg.sender] = at;
            emit ArbiterLeaving(msg.sender, at);
            return;
        }
        if (block.timestamp < at) revert CooldownActive(at);
        if (pendingVotes[msg.sender] > 0) revert VotesPending(pendingVotes[msg.sender]);
        stake[msg.sender] = 0;
        leaveAt[msg.sender] = 0;
        _removeArbiter(msg.sender);
        _credit(msg.sender, staked);
        emit ArbiterLeft(msg.sender, staked);
    }

    function openCase(uint256 jobId, string calldata evidenceURI) external payable returns (uint256 caseId) {
        if (msg.value != CASE_FEE) revert WrongFee(msg.value, CASE_FEE);
        _requireShort(evidenceURI);
        if (caseOf[jobId] != 0) revert CaseExists(caseOf[jobId]);
        if (escrow.getJob(jobId).status != ServiceEscrow.JobStatus.Disputed) revert JobNotDisputed();
        if (!_isParty(jobId, msg.sender)) revert NotParty();
        caseId = ++nextCaseId;
        caseOf[jobId] = caseId;
        cases[caseId] = Case(jobId, msg.sender, evidenceURI, uint64(block.timestamp), 0, 0, false);
        emit CaseOpened(caseId, jobId, msg.sender, evidenceURI);
    }

    function submitEvidence(uint256 caseId, string calldata uri) external {
        Case storage dispute = _open(caseId);
        _requireShort(uri);
        if (!_isParty(dispute.jobId, msg.sender)) revert NotParty();
        evidence[caseId].push(uri);
        emit EvidenceSubmitted(caseId, msg.sender, uri);
    }

    function vote(uint256 caseId, uint16 clientBps) external {
        Case storage dispute = _open(caseId);
        if (stake[msg.sender] == 0) revert NotArbiter();
        if (leaveAt[msg.sender] != 0) revert Leaving();
        uint64 closesAt = dispute.openedAt + votingWindow;
        if (block.timestamp >= closesAt) revert VotingClosed(closesAt);
        if (clientBps > 10_000) revert InvalidBps();
        if (_isParty(dispute.jobId, msg.sender)) revert ConflictOfInterest();
        if (getVote[caseId][msg.sender].cast) revert AlreadyVoted();
        getVote[caseId][msg.sender] = Vote(true, clientBps);
        voters[caseId].push(msg.sender);
        dispute.votes++;
        pendingVotes[msg.sender]++;
        emit Voted(caseId, msg.sender, clientBps);
    }

    /// By anyone, when the window is over or two more than the quorum have voted.
    function close(uint256 caseId) external nonReentrant {
        Case storage dispute = _open(caseId);
        bool over = block.timestamp >= dispute.openedAt + votingWindow;
        if (!over && dispute.votes < uint256(quorum) + 2) revert NotClosable();
        uint16 result = _median(caseId);
        dispute.closed = true;
        dispute.result = result;
        _reward(caseId, result);
        emit CaseClosed(caseId, dispute.jobId, result);
        escrow.resolve(dispute.jobId, result);
    }

    /// How the owner still reaches what only the escrow's governance may call.
    function forward(address target, bytes calldata data) external onlyOwner returns (bytes memory) {
        (bool ok, bytes memory answer) = target.call(data);
        if (!ok) {
            if (answer.length == 0) revert ForwardFailed();
            assembly {
                revert(add(answer, 32), mload(answer))
            }
        }
        return answer;
    }

    function setParams(uint256 minStake_, uint64 votingWindow_, uint8 quorum_) external onlyOwner {
        if (minStake_ == 0 || votingWindow_ == 0 || quorum_ == 0) revert InvalidParams();
        minStake = minStake_;
        votingWindow = votingWindow_;
        quorum = quorum_;
        emit ParamsChanged(minStake_, votingWindow_, quorum_);
    }

    function transferOwnership(address newOwner) external onlyOwner {
        if (newOwner == address(0)) revert ZeroAddress();
        emit OwnershipTransferred(owner, newOwner);
        owner = newOwner;
    }

    function isArbiter(address a) external view returns (bool) {
        return stake[a] > 0 && leaveAt[a] == 0;
    }

    function arbiterCount() external view returns (uint256) {
        return arbiters.length;
    }

    /// Zeros for an unknown id.
    function getCase(uint256 caseId) external view returns (Case memory) {
        return cases[caseId];
    }

    function getVoters(uint256 caseId) external view returns (address[] memory) {
        return voters[caseId];
    }

    function getEvidence(uint256 caseId) external view returns (string[] memory) {
        return evidence[caseId];
    }

    function _open(uint256 caseId) private view returns (Case storage dispute) {
        dispute = cases[caseId];
        if (dispute.openedAt == 0) revert UnknownCase();
        if (dispute.closed) revert CaseClosedAlready();
    }

    function _isParty(uint256 jobId, address account) private view returns (bool) {
        ServiceEscrow.Job memory job = escrow.getJob(jobId);
        return account == job.client || account == registry.getAgent(job.agentId).owner;
    }

    /// Half for each side when nobody voted; the mean of the two in the middle when their number is even.
    function _median(uint256 caseId) private view returns (uint16) {
        address[] storage who = voters[caseId];
        uint256 count = who.length;
        if (count == 0) return 5000;
        uint16[] memory votes = new uint16[](count);
        for (uint256 i = 0; i < count; i++) {
            uint16 value = getVote[caseId][who[i]].clientBps;
            uint256 place = i;
            for (; place > 0 && votes[place - 1] > value; place--) {
                votes[place] = votes[place - 1];
            }
            votes[place] = value;
        }
        if (count % 2 == 1) return votes[count / 2];
        return uint16((uint256(votes[count / 2 - 1]) + votes[count / 2]) / 2);
    }

    /// Equal parts of the fee for those near the result; what cannot be divided is the owner's.
    function _reward(uint256 caseId, uint16 result) private {
        address[] storage who = voters[caseId];
        uint256 eligible = 0;
        for (uint256 i = 0; i < who.length; i++) {
            pendingVotes[who[i]]--;
            if (_isNear(caseId, who[i], result)) eligible++;
        }
        uint256 part = eligible == 0 ? 0 : CASE_FEE / eligible;
        _credit(owner, CASE_FEE - part * eligible);
        for (uint256 i = 0; i < who.length; i++) {
            if (!_isNear(caseId, who[i], result)) continue;
            _credit(who[i], part);
            emit Rewarded(caseId, who[i], part);
        }
    }

    function _isNear(uint256 caseId, address arbiter, uint16 result) private view returns (bool) {
        uint16 value = getVote[caseId][arbiter].clientBps;
        return (value > result ? value - result : result - value) <= REWARD_BAND_BPS;
    }

    function _removeArbiter(address arbiter) private {
        for (uint256 i = 0; i < arbiters.length; i++) {
            if (arbiters[i] != arbiter) continue;
            arbiters[i] = arbiters[arbiters.length - 1];
            arbiters.pop();
            return;
        }
    }

    function _requireShort(string calldata uri) private pure {
        if (bytes(uri).length > 256) revert StringTooLong();
    }
}
