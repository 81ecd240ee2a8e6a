// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

/// Six decimals, made by its owner.
abstract contract Stablecoin is ERC20, Ownable {
    constructor(address owner) Ownable(owner) {}

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function mint(address to, uint256 value) external onlyOwner {
        _mint(to, value);
    }
}

/// One US dollar.
contract USDF is Stablecoin {
    constructor(address owner) Stablecoin(owner) ERC20("USD on FMX", "USDF") {}
}

/// One Azerbaijani manat.
contract AZNT is Stablecoin {
    constructor(address owner) Stablecoin(owner) ERC20("AZN Token", "AZNT") {}
}
