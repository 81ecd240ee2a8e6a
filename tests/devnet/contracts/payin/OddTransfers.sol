// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {DevDollar} from "./Dollars.sol";

/// A token that does what tokens in the wild do, each in a function of its own: a fee, events of nothing, and events of other shapes.
contract OddDollar is DevDollar {
    bytes32 private constant TRANSFER = keccak256("Transfer(address,address,uint256)");
    /// Who gets the fees.
    address private constant COLLECTOR = address(0xFEE);

    constructor() DevDollar(6) {}

    /// Less arrives than is sent.
    function sendLessFee(address to, uint256 value) external {
        uint256 fee = value / 100;
        _transfer(msg.sender, to, value - fee);
        _transfer(msg.sender, COLLECTOR, fee);
    }

    /// The event of a transfer that is none.
    function claim(address to, uint256 value) external {
        emit Transfer(msg.sender, to, value);
    }

    /// As old tokens have it: all three arguments are data.
    function sendUnindexed(address to, uint256 value) external {
        bytes32 topic = TRANSFER;
        bytes memory data = abi.encode(msg.sender, to, value);
        assembly {
            log1(add(data, 0x20), mload(data), topic)
        }
    }

    /// As collectibles have it: all three arguments are topics.
    function sendCollectible(address to, uint256 id) external {
        bytes32 topic = TRANSFER;
        assembly {
            log4(0, 0, topic, caller(), to, id)
        }
    }
}

/// Sends coins in ways that no transaction shows.
contract CoinSender {
    error Refused();

    function forward(address payable to) external payable {
        (bool ok, ) = to.call{value: msg.value}("");
        if (!ok) revert Refused();
    }

    /// Not even a call: a contract ends, and its coins go there.
    function bequeath(address payable to) external payable {
        new Estate{value: msg.value}(to);
    }
}

contract Estate {
    constructor(address payable heir) payable {
        selfdestruct(heir);
    }
}

/// A price feed that says one price, of when it was made, with 8 decimals.
contract DevFeed {
    int256 private immutable ANSWER;
    uint256 private immutable MADE_AT;

    constructor(int256 answer) {
        ANSWER = answer;
        MADE_AT = block.timestamp;
    }

    function decimals() external pure returns (uint8) {
        return 8;
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return (1, ANSWER, MADE_AT, MADE_AT, 1);
    }
}
