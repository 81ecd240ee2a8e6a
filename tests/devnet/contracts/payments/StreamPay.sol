// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {Credits} from "../base/Credits.sol";
import {Fees} from "../base/Fees.sol";
import {Governed} from "../base/Governed.sol";
import {Subscriptions} from "./Subscriptions.sol";

/// Money by the second, until the deposit is used up.
contract StreamPay is Subscriptions {
    struct Stream {
        address payer;
        address payee;
        uint256 ratePerSec;
        uint256 deposit;
        uint256 withdrawn;
        uint64 start;
        uint64 stop;
        bool cancelled;
    }

    mapping(uint256 id => Stream) private streams;
    /// The last id issued.
    uint256 public nextStreamId;

    event StreamOpened(
        uint256 indexed id,
        address indexed payer,
        address indexed payee,
        uint256 ratePerSec,
        uint256 deposit,
        uint64 start,
        uint64 stop
    );
    event StreamToppedUp(uint256 indexed id, uint256 amount, uint256 deposit, uint64 stop);
    event StreamClaimed(uint256 indexed id, uint256 payeeAmount, uint256 fee);
    event StreamCancelled(uint256 indexed id, address indexed by, uint256 payeeAmount, uint256 fee, uint256 refund);

    error InsufficientDeposit(uint256 provided, uint256 required);
    error NotParty();
    error StreamAlreadyCancelled();
    error StreamEnded();
    error UnknownStream();

    constructor(address governance_, address feeRecipient_) Governed(governance_) Fees(100, feeRecipient_) {}

    function openStream(address payee, uint256 ratePerSec) external payable returns (uint256 id) {
        _requireAddress(payee);
        if (payee == msg.sender) revert SelfPayment();
        if (ratePerSec == 0) revert ZeroRate();
        if (msg.value < ratePerSec) revert InsufficientDeposit(msg.value, ratePerSec);
        id = ++nextStreamId;
        uint64 start = uint64(block.timestamp);
        uint64 stop = _stop(start, msg.value, ratePerSec);
        streams[id] = Stream(msg.sender, payee, ratePerSec, msg.value, 0, start, stop, false);
        emit StreamOpened(id, msg.sender, payee, ratePerSec, msg.value, start, stop);
    }

    /// By anyone, while it runs.
    function topUp(uint256 id) external payable {
        Stream storage stream = _known(id);
        if (msg.value == 0) revert ZeroValue();
        if (stream.cancelled) revert StreamAlreadyCancelled();
        if (block.timestamp >= stream.stop) revert StreamEnded();
        stream.deposit += msg.value;
        stream.stop = _stop(stream.start, stream.deposit, stream.ratePerSec);
        emit StreamToppedUp(id, msg.value, stream.deposit, stream.stop);
    }

    function claimStream(uint256 id) external {
        Stream storage stream = _known(id);
        if (stream.payee != msg.sender) revert NotPayee();
        uint256 gross = claimable(id);
        if (gross == 0) revert NothingToClaim();
        stream.withdrawn += gross;
        (uint256 net, uint256 fee) = _earn(stream.payee, gross);
        emit StreamClaimed(id, net, fee);
    }

    /// By either side, also after the end: what was earned goes to the payee, the rest with its rounding to the payer.
    function cancelStream(uint256 id) external {
        Stream storage stream = _known(id);
        if (msg.sender != stream.payer && msg.sender != stream.payee) revert NotParty();
        if (stream.cancelled) revert StreamAlreadyCancelled();
        uint256 gross = claimable(id);
        stream.withdrawn += gross;
        stream.cancelled = true;
        uint256 refund = stream.deposit - stream.withdrawn;
        (uint256 net, uint256 fee) = _earn(stream.payee, gross);
        _credit(stream.payer, refund);
        emit StreamCancelled(id, msg.sender, net, fee, refund);
    }

    function claimable(uint256 id) public view returns (uint256) {
        Stream storage stream = streams[id];
        if (stream.cancelled) return 0;
        uint256 until = block.timestamp < stream.stop ? block.timestamp : stream.stop;
        uint256 accrued = (until - stream.start) * stream.ratePerSec;
        if (accrued > stream.deposit) accrued = stream.deposit;
        return accrued - stream.withdrawn;
    }

    /// Zeros for an unknown id.
    function getStream(uint256 id) external view returns (Stream memory) {
        return streams[id];
    }

    function _known(uint256 id) private view returns (Stream storage stream) {
        stream = streams[id];
        if (stream.payer == address(0)) revert UnknownStream();
    }

    /// More than 64 bits of seconds wrap around, as in the first version of the deployed contract.
    function _stop(uint64 start, uint256 deposit, uint256 ratePerSec) private pure returns (uint64) {
        return uint64(start + deposit / ratePerSec);
    }
}
