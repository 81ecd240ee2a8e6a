// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

/// Money of the foundation that stays where it is until a moment.
contract FoundationLock {
    address public immutable beneficiary;
    uint256 public immutable opensAt;

    constructor(address beneficiary_, uint256 opensAt_) payable {
        beneficiary = beneficiary_;
        opensAt = opensAt_;
    }

    /// Seconds until it opens; 0 is open.
    function remaining() public view returns (uint256) {
        return block.timestamp < opensAt ? opensAt - block.timestamp : 0;
    }

    function release() external {
        require(remaining() == 0, "FoundationLock: locked");
        (bool ok, ) = beneficiary.call{value: address(this).balance}("");
        require(ok, "FoundationLock: send failed");
    }
}
