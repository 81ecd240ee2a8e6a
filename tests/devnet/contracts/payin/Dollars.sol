// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// A test dollar on a chain of deposits: with 6 decimals like USDC on most chains, or 18 like USDC on BNB Chain. Anyone makes some.
contract DevDollar is ERC20 {
    uint8 private immutable PLACES;

    constructor(uint8 places) ERC20("USD Coin of a dev chain", "USDC") {
        PLACES = places;
    }

    function decimals() public view override returns (uint8) {
        return PLACES;
    }

    function mint(address to, uint256 value) external {
        _mint(to, value);
    }
}

/// Moves dollars for others, as exchanges and routers do.
contract DollarRouter {
    error Undone();

    /// As many transfers in one transaction.
    function move(DevDollar token, address from, address to, uint256[] calldata values) external {
        for (uint256 i = 0; i < values.length; i++) {
            token.transferFrom(from, to, values[i]);
        }
    }

    /// A transfer that is undone, in a transaction that succeeds.
    function moveAndUndo(DevDollar token, address from, address to, uint256 value) external {
        try this.moveAndFail(token, from, to, value) {} catch {}
    }

    function moveAndFail(DevDollar token, address from, address to, uint256 value) external {
        token.transferFrom(from, to, value);
        revert Undone();
    }
}
