// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {Guarded} from "./Guarded.sol";

/// Sends the native coin, all or nothing.
abstract contract Payout is Guarded {
    error NothingToWithdraw();
    error TransferFailed();

    function _pay(address to, uint256 amount) internal {
        (bool ok, ) = to.call{value: amount}("");
        if (!ok) revert TransferFailed();
    }
}
