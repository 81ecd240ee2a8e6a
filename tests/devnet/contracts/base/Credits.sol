// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {Payout} from "./Payout.sol";

/// Money owed to accounts, which fetch it themselves: nobody's failing receive can block somebody else.
abstract contract Credits is Payout {
    mapping(address account => uint256) public credits;

    event Withdrawn(address indexed to, uint256 amount);

    function withdraw() external nonReentrant {
        uint256 amount = credits[msg.sender];
        if (amount == 0) revert NothingToWithdraw();
        credits[msg.sender] = 0;
        emit Withdrawn(msg.sender, amount);
        _pay(msg.sender, amount);
    }

    function _credit(address account, uint256 amount) internal {
        credits[account] += amount;
    }
}
