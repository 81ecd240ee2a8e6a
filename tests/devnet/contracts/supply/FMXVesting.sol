// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {VestingWallet} from "@openzeppelin/contracts/finance/VestingWallet.sol";
import {VestingWalletCliff} from "@openzeppelin/contracts/finance/VestingWalletCliff.sol";

/// Linear over 1080 days, nothing in the first 180.
contract FMXVesting is VestingWalletCliff {
    constructor(address beneficiary, uint64 start)
        payable
        VestingWallet(beneficiary, start, 1080 days)
        VestingWalletCliff(180 days)
    {}
}
