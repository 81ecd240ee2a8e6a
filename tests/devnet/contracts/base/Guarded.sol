// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

/// What pays out must not be entered a second time. (Not OpenZeppelin's guard: its error has another name.)
abstract contract Guarded {
    /// A clone starts with zero here, so zero must mean "free".
    bool private entered;

    error Reentrancy();

    modifier nonReentrant() {
        if (entered) revert Reentrancy();
        entered = true;
        _;
        entered = false;
    }
}
