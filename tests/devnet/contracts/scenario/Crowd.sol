// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

/// One of many players, moved by the crowd that made it.
contract Actor {
    address private immutable crowd = msg.sender;

    receive() external payable {}

    function act(address to, bytes calldata data) external payable {
        require(msg.sender == crowd, "Actor: not yours");
        (bool ok, bytes memory answer) = to.call{value: msg.value}(data);
        if (!ok) {
            assembly {
                revert(add(answer, 32), mload(answer))
            }
        }
    }
}

/// Plays many steps of many players in one transaction: how a large economy comes to be in little time.
contract Crowd {
    Actor[] private actors;

    receive() external payable {}

    function hire(uint256 count) external {
        for (uint256 i = 0; i < count; i++) {
            actors.push(new Actor());
        }
    }

    /// Steps one behind the other: player (4 bytes), target (20), value (16), size of the data (4), data. Packed,
    /// because a hundred thousand of them are to be written and read.
    function play(bytes calldata steps) external payable {
        for (uint256 at = 0; at < steps.length; ) {
            uint256 end = at + 44 + uint32(bytes4(steps[at + 40:at + 44]));
            Actor actor = actors[uint32(bytes4(steps[at:at + 4]))];
            address to = address(bytes20(steps[at + 4:at + 24]));
            uint256 value = uint128(bytes16(steps[at + 24:at + 40]));
            actor.act{value: value}(to, steps[at + 44:end]);
            at = end;
        }
    }

    function actorAt(uint256 index) external view returns (address) {
        return address(actors[index]);
    }
}
