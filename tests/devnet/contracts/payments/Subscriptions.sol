// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {Credits} from "../base/Credits.sol";
import {Fees} from "../base/Fees.sol";

/// Plans with a price per period, paid ahead. A period belongs to the payee when it starts, so the first one at once.
abstract contract Subscriptions is Fees, Credits {
    struct Plan {
        address payee;
        uint256 pricePerPeriod;
        uint64 period;
        bool active;
        string metadataURI;
    }

    struct Sub {
        uint256 planId;
        address payer;
        uint64 paidThrough;
        bool cancelled;
        /// What the payee has not been given yet.
        uint256 prepaid;
    }

    mapping(uint256 planId => Plan) private plans;
    mapping(uint256 subId => Sub) private subs;
    /// The latest subscription of a payer to a plan.
    mapping(uint256 planId => mapping(address payer => uint256)) public subOf;
    /// The last ids issued.
    uint256 public nextPlanId;
    uint256 public nextSubId;

    event PlanCreated(
        uint256 indexed planId, address indexed payee, uint256 pricePerPeriod, uint64 period, string metadataURI
    );
    event PlanActiveSet(uint256 indexed planId, bool active);
    event Subscribed(
        uint256 indexed subId, uint256 indexed planId, address indexed payer, uint32 periods, uint64 paidThrough
    );
    event SubRenewed(uint256 indexed subId, uint32 periods, uint64 paidThrough);
    event SubCancelled(uint256 indexed subId, uint256 refund);
    event SubClaimed(uint256 indexed subId, uint256 periods, uint256 payeeAmount, uint256 fee);

    error AlreadySubscribed(uint256 subId);
    error NothingToClaim();
    error NotPayee();
    error NotPayer();
    error PlanInactive();
    error SelfPayment();
    error StringTooLong();
    error SubAlreadyCancelled();
    error UnknownPlan();
    error UnknownSub();
    error WrongPayment(uint256 provided, uint256 required);
    error ZeroPeriods();
    error ZeroRate();
    error ZeroValue();

    function createPlan(uint256 pricePerPeriod, uint64 period, string calldata metadataURI)
        external
        returns (uint256 planId)
    {
        if (pricePerPeriod == 0) revert ZeroValue();
        if (period == 0) revert ZeroRate();
        if (bytes(metadataURI).length > 256) revert StringTooLong();
        planId = ++nextPlanId;
        plans[planId] = Plan(msg.sender, pricePerPeriod, period, true, metadataURI);
        emit PlanCreated(planId, msg.sender, pricePerPeriod, period, metadataURI);
    }

    function setPlanActive(uint256 planId, bool active) external {
        Plan storage plan = _knownPlan(planId);
        if (plan.payee != msg.sender) revert NotPayee();
        plan.active = active;
        emit PlanActiveSet(planId, active);
    }

    function subscribe(uint256 planId, uint32 periods) external payable returns (uint256 subId) {
        Plan storage plan = _knownPlan(planId);
        if (plan.payee == msg.sender) revert SelfPayment();
        _requirePayment(plan, periods);
        if (isSubscribed(planId, msg.sender)) revert AlreadySubscribed(subOf[planId][msg.sender]);
        subId = ++nextSubId;
        subOf[planId][msg.sender] = subId;
        uint64 paidThrough = uint64(block.timestamp) + plan.period * periods;
        subs[subId] = Sub(planId, msg.sender, paidThrough, false, msg.value);
        emit Subscribed(subId, planId, msg.sender, periods, paidThrough);
    }

    /// One that has lapsed begins again from now.
    function renew(uint256 subId, uint32 periods) external payable {
        Sub storage sub = _ownSub(subId);
        Plan storage plan = plans[sub.planId];
        _requirePayment(plan, periods);
        _settleDue(subId);
        uint64 from = sub.paidThrough > block.timestamp ? sub.paidThrough : uint64(block.timestamp);
        sub.paidThrough = from + plan.period * periods;
        sub.prepaid += msg.value;
        emit SubRenewed(subId, periods, sub.paidThrough);
    }

    /// Gives back the periods that have not started.
    function cancelSub(uint256 subId) external {
        Sub storage sub = _ownSub(subId);
        _settleDue(subId);
        uint256 refund = sub.prepaid;
        sub.prepaid = 0;
        sub.cancelled = true;
        if (sub.paidThrough > block.timestamp) sub.paidThrough = uint64(block.timestamp);
        _credit(sub.payer, refund);
        emit SubCancelled(subId, refund);
    }

    function claimSub(uint256 subId) external {
        Sub storage sub = _knownSub(subId);
        if (plans[sub.planId].payee != msg.sender) revert NotPayee();
        if (sub.cancelled) revert SubAlreadyCancelled();
        if (_settleDue(subId) == 0) revert NothingToClaim();
    }

    function dueSubPeriods(uint256 subId) public view returns (uint256) {
        Sub storage sub = subs[subId];
        if (sub.prepaid == 0) return 0;
        Plan storage plan = plans[sub.planId];
        uint256 unclaimed = sub.prepaid / plan.pricePerPeriod;
        uint256 accrualStart = sub.paidThrough - unclaimed * plan.period;
        // A renewal ahead of time: the periods it paid for begin later.
        if (block.timestamp < accrualStart) return 0;
        uint256 started = (block.timestamp - accrualStart) / plan.period + 1;
        return started < unclaimed ? started : unclaimed;
    }

    function isSubscribed(uint256 planId, address payer) public view returns (bool) {
        Sub storage sub = subs[subOf[planId][payer]];
        return sub.payer != address(0) && !sub.cancelled && sub.paidThrough > block.timestamp;
    }

    /// Zeros for an unknown id.
    function getPlan(uint256 planId) external view returns (Plan memory) {
        return plans[planId];
    }

    function getSub(uint256 subId) external view returns (Sub memory) {
        return subs[subId];
    }

    /// Credits the payee with what is left of it after the fee.
    function _earn(address payee, uint256 gross) internal returns (uint256 net, uint256 fee) {
        fee = _fee(gross);
        net = gross - fee;
        _credit(payee, net);
        _credit(feeRecipient, fee);
    }

    function _settleDue(uint256 subId) private returns (uint256 periods) {
        periods = dueSubPeriods(subId);
        if (periods == 0) return 0;
        Sub storage sub = subs[subId];
        Plan storage plan = plans[sub.planId];
        uint256 gross = periods * plan.pricePerPeriod;
        sub.prepaid -= gross;
        (uint256 net, uint256 fee) = _earn(plan.payee, gross);
        emit SubClaimed(subId, periods, net, fee);
    }

    function _requirePayment(Plan storage plan, uint32 periods) private view {
        if (!plan.active) revert PlanInactive();
        if (periods == 0) revert ZeroPeriods();
        uint256 required = plan.pricePerPeriod * periods;
        if (msg.value != required) revert WrongPayment(msg.value, required);
    }

    function _knownPlan(uint256 planId) private view returns (Plan storage plan) {
        plan = plans[planId];
        if (plan.payee == address(0)) revert UnknownPlan();
    }

    function _knownSub(uint256 subId) private view returns (Sub storage sub) {
        sub = subs[subId];
        if (sub.payer == address(0)) revert UnknownSub();
    }

    function _ownSub(uint256 subId) private view returns (Sub storage sub) {
        sub = _knownSub(subId);
        if (sub.payer != msg.sender) revert NotPayer();
        if (sub.cancelled) revert SubAlreadyCancelled();
    }
}
