// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {REGISTRIES_VERSION} from "../base/Brand.sol";
import {ServiceEscrow} from "../jobs/ServiceEscrow.sol";
import {IdentityRegistry8004} from "./IdentityRegistry8004.sol";

/// What clients say about agents. Anyone but the owner may, without having paid; the outcome of a job can be brought in
/// once, by anyone.
contract ReputationRegistry8004 {
    struct Feedback {
        int128 value;
        uint8 valueDecimals;
        bool revoked;
        string tag1;
        string tag2;
    }

    /// What a feedback consists of, in one word on the stack.
    struct NewEntry {
        int128 value;
        uint8 valueDecimals;
        string tag1;
        string tag2;
        string endpoint;
        string feedbackURI;
        bytes32 feedbackHash;
    }

    uint8 private constant DECIMALS_MAX = 18;
    int128 private constant VALUE_MAX = 1e38;

    IdentityRegistry8004 private immutable identity;
    ServiceEscrow public immutable escrow;
    mapping(uint256 jobId => bool) public syncedJob;

    /// Indexes begin at 1, so the first stands at 0.
    mapping(uint256 agentId => mapping(address client => Feedback[])) private feedback;
    mapping(uint256 agentId => address[]) private clients;
    mapping(bytes32 entry => address[]) private responders;
    mapping(bytes32 entry => mapping(address responder => uint64)) private responses;

    event NewFeedback(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        int128 value,
        uint8 valueDecimals,
        string indexed indexedTag1,
        string tag1,
        string tag2,
        string endpoint,
        string feedbackURI,
        bytes32 feedbackHash
    );
    event FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex);
    event ResponseAppended(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        address indexed responder,
        string responseURI,
        bytes32 responseHash
    );
    event EscrowSynced(
        uint256 indexed jobId,
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        int128 value
    );

    error AlreadyRevoked();
    error AlreadySynced(uint256 jobId);
    error ClientAddressesRequired();
    error EmptyURI();
    error IndexOutOfBounds();
    error JobNotSyncable(uint8 status);
    error SelfFeedback();
    error TooManyDecimals();
    error ValueTooLarge();
    error ZeroAddress();

    constructor(IdentityRegistry8004 identity_, ServiceEscrow escrow_) {
        if (address(identity_) == address(0) || address(escrow_) == address(0)) revert ZeroAddress();
        identity = identity_;
        escrow = escrow_;
    }

    function giveFeedback(
        uint256 agentId,
        int128 value,
        uint8 valueDecimals,
        string calldata tag1,
        string calldata tag2,
        string calldata endpoint,
        string calldata feedbackURI,
        bytes32 feedbackHash
    ) external {
        // An unknown agent is refused in there.
        if (identity.ownerOf(agentId) == msg.sender) revert SelfFeedback();
        if (valueDecimals > DECIMALS_MAX) revert TooManyDecimals();
        if (value > VALUE_MAX || value < -VALUE_MAX) revert ValueTooLarge();
        _add(
            agentId,
            msg.sender,
            NewEntry(value, valueDecimals, tag1, tag2, endpoint, feedbackURI, feedbackHash)
        );
    }

    /// Whether a job was done, as the feedback of its client. The rating of 1 to 5 is not taken over.
    function syncFromEscrow(uint256 jobId) external returns (uint64 feedbackIndex) {
        if (syncedJob[jobId]) revert AlreadySynced(jobId);
        ServiceEscrow.Job memory job = escrow.getJob(jobId);
        bool completed = job.status == ServiceEscrow.JobStatus.Completed;
        if (!completed && job.status != ServiceEscrow.JobStatus.Refunded) revert JobNotSyncable(uint8(job.status));
        syncedJob[jobId] = true;
        int128 value = completed ? int128(1) : int128(0);
        string memory outcome = completed ? "completed" : "refunded";
        feedbackIndex = _add(
            job.agentId, job.client, NewEntry(value, 0, "escrow", outcome, "", job.outputURI, job.outputHash)
        );
        emit EscrowSynced(jobId, job.agentId, job.client, feedbackIndex, value);
    }

    function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external {
        Feedback storage entry = _at(agentId, msg.sender, feedbackIndex);
        if (entry.revoked) revert AlreadyRevoked();
        entry.revoked = true;
        emit FeedbackRevoked(agentId, msg.sender, feedbackIndex);
    }

    function appendResponse(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        string calldata responseURI,
        bytes32 responseHash
    ) external {
        if (bytes(responseURI).length == 0) revert EmptyURI();
        _at(agentId, clientAddress, feedbackIndex);
        bytes32 entry = _entry(agentId, clientAddress, feedbackIndex);
        if (responses[entry][msg.sender]++ == 0) responders[entry].push(msg.sender);
        emit ResponseAppended(agentId, clientAddress, feedbackIndex, msg.sender, responseURI, responseHash);
    }

    /// The mean of what was not revoked, with the number of decimals that most of it has (the smaller of two such).
    function getSummary(
        uint256 agentId,
        address[] calldata clientAddresses,
        string calldata tag1,
        string calldata tag2
    ) external view returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals) {
        if (clientAddresses.length == 0) revert ClientAddressesRequired();
        uint64[19] memory decimals;
        int256 sum = 0;
        for (uint256 i = 0; i < clientAddresses.length; i++) {
            Feedback[] storage given = feedback[agentId][clientAddresses[i]];
            for (uint256 j = 0; j < given.length; j++) {
                if (given[j].revoked || !_matches(given[j], tag1, tag2)) continue;
                sum += int256(given[j].value) * int256(10 ** (DECIMALS_MAX - given[j].valueDecimals));
                decimals[given[j].valueDecimals]++;
                count++;
            }
        }
        if (count == 0) return (0, 0, 0);
        for (uint8 d = 1; d <= DECIMALS_MAX; d++) {
            if (decimals[d] > decimals[summaryValueDecimals]) summaryValueDecimals = d;
        }
        int256 mean = sum / int256(uint256(count)) / int256(10 ** (DECIMALS_MAX - summaryValueDecimals));
        if (mean > type(int128).max || mean < type(int128).min) revert ValueTooLarge();
        summaryValue = int128(mean);
    }

    function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex)
        external
        view
        returns (int128 value, uint8 valueDecimals, string memory tag1, string memory tag2, bool isRevoked)
    {
        Feedback storage entry = _at(agentId, clientAddress, feedbackIndex);
        return (entry.value, entry.valueDecimals, entry.tag1, entry.tag2, entry.revoked);
    }

    /// An empty list of clients means all.
    function readAllFeedback(
        uint256 agentId,
        address[] calldata clientAddresses,
        string calldata tag1,
        string calldata tag2,
        bool includeRevoked
    )
        external
        view
        returns (
            address[] memory clients_,
            uint64[] memory feedbackIndexes,
            int128[] memory values,
            uint8[] memory valueDecimals,
            string[] memory tag1s,
            string[] memory tag2s,
            bool[] memory revokedStatuses
        )
    {
        address[] memory asked = clientAddresses;
        if (asked.length == 0) asked = clients[agentId];
        uint256 size = 0;
        for (uint256 i = 0; i < asked.length; i++) {
            Feedback[] storage given = feedback[agentId][asked[i]];
            for (uint256 j = 0; j < given.length; j++) {
                if (_isRead(given[j], tag1, tag2, includeRevoked)) size++;
            }
        }
        clients_ = new address[](size);
        feedbackIndexes = new uint64[](size);
        values = new int128[](size);
        valueDecimals = new uint8[](size);
        tag1s = new string[](size);
        tag2s = new string[](size);
        revokedStatuses = new bool[](size);
        uint256 next = 0;
        for (uint256 i = 0; i < asked.length; i++) {
            Feedback[] storage given = feedback[agentId][asked[i]];
            for (uint256 j = 0; j < given.length; j++) {
                Feedback storage entry = given[j];
                if (!_isRead(entry, tag1, tag2, includeRevoked)) continue;
                clients_[next] = asked[i];
                feedbackIndexes[next] = uint64(j + 1);
                values[next] = entry.value;
                valueDecimals[next] = entry.valueDecimals;
                tag1s[next] = entry.tag1;
                tag2s[next] = entry.tag2;
                revokedStatuses[next] = entry.revoked;
                next++;
            }
        }
    }

    function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64) {
        return uint64(feedback[agentId][clientAddress].length);
    }

    function getClients(uint256 agentId) external view returns (address[] memory) {
        return clients[agentId];
    }

    /// Client zero means all clients, index zero all feedback, no responders all who responded.
    function getResponseCount(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        address[] calldata responders_
    ) external view returns (uint64 count) {
        if (clientAddress != address(0)) return _countOf(agentId, clientAddress, feedbackIndex, responders_);
        address[] storage all = clients[agentId];
        for (uint256 i = 0; i < all.length; i++) {
            count += _countOf(agentId, all[i], feedbackIndex, responders_);
        }
    }

    function getIdentityRegistry() external view returns (address) {
        return address(identity);
    }

    function getVersion() external pure returns (string memory) {
        return REGISTRIES_VERSION;
    }

    function _add(uint256 agentId, address client, NewEntry memory entry) private returns (uint64 index) {
        Feedback[] storage given = feedback[agentId][client];
        if (given.length == 0) clients[agentId].push(client);
        given.push(Feedback(entry.value, entry.valueDecimals, false, entry.tag1, entry.tag2));
        index = uint64(given.length);
        emit NewFeedback(
            agentId,
            client,
            index,
            entry.value,
            entry.valueDecimals,
            entry.tag1,
            entry.tag1,
            entry.tag2,
            entry.endpoint,
            entry.feedbackURI,
            entry.feedbackHash
        );
    }

    function _at(uint256 agentId, address client, uint64 index) private view returns (Feedback storage) {
        Feedback[] storage given = feedback[agentId][client];
        if (index == 0 || index > given.length) revert IndexOutOfBounds();
        return given[index - 1];
    }

    function _entry(uint256 agentId, address client, uint64 index) private pure returns (bytes32) {
        return keccak256(abi.encode(agentId, client, index));
    }

    function _isRead(Feedback storage entry, string calldata tag1, string calldata tag2, bool includeRevoked)
        private
        view
        returns (bool)
    {
        return (includeRevoked || !entry.revoked) && _matches(entry, tag1, tag2);
    }

    function _matches(Feedback storage entry, string calldata tag1, string calldata tag2)
        private
        view
        returns (bool)
    {
        return _isTag(entry.tag1, tag1) && _isTag(entry.tag2, tag2);
    }

    function _isTag(string storage tag, string calldata asked) private view returns (bool) {
        return bytes(asked).length == 0 || keccak256(bytes(tag)) == keccak256(bytes(asked));
    }

    function _countOf(uint256 agentId, address client, uint64 index, address[] calldata asked)
        private
        view
        returns (uint64 count)
    {
        uint64 last = uint64(feedback[agentId][client].length);
        uint64 from = index == 0 ? 1 : index;
        uint64 to = index == 0 || index > last ? last : index;
        for (uint64 i = from; i <= to; i++) {
            bytes32 entry = _entry(agentId, client, i);
            address[] memory who = asked;
            if (who.length == 0) who = responders[entry];
            for (uint256 j = 0; j < who.length; j++) {
                count += responses[entry][who[j]];
            }
        }
    }
}
