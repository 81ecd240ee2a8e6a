// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {Governed} from "./Governed.sol";

/// A share of payments for one recipient, never more than a tenth. Both are read when a payment settles.
abstract contract Fees is Governed {
    uint16 public feeBps;
    address public feeRecipient;

    event FeeChanged(uint16 feeBps);
    event FeeRecipientChanged(address indexed feeRecipient);

    error FeeTooHigh();

    constructor(uint16 feeBps_, address feeRecipient_) {
        _requireAddress(feeRecipient_);
        if (feeBps_ > 1000) revert FeeTooHigh();
        feeBps = feeBps_;
        feeRecipient = feeRecipient_;
    }

    function setFee(uint16 bps) external onlyGovernance {
        if (bps > 1000) revert FeeTooHigh();
        feeBps = bps;
        emit FeeChanged(bps);
    }

    function setFeeRecipient(address recipient) external onlyGovernance {
        _requireAddress(recipient);
        feeRecipient = recipient;
        emit FeeRecipientChanged(recipient);
    }

    function _fee(uint256 amount) internal view returns (uint256) {
        return (amount * feeBps) / 10_000;
    }
}
