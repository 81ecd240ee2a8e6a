// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

/// One address that may change parameters; it hands over in one step.
abstract contract Governed {
    address public governance;

    event GovernanceChanged(address indexed previous, address indexed current);

    error NotGovernance();
    error ZeroAddress();

    modifier onlyGovernance() {
        if (msg.sender != governance) revert NotGovernance();
        _;
    }

    constructor(address governance_) {
        _requireAddress(governance_);
        governance = governance_;
    }

    function setGovernance(address newGovernance) external onlyGovernance {
        _requireAddress(newGovernance);
        emit GovernanceChanged(governance, newGovernance);
        governance = newGovernance;
    }

    function _requireAddress(address account) internal pure {
        if (account == address(0)) revert ZeroAddress();
    }
}
