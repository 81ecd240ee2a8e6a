// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

/// Gives the caller a little, once a day. Whoever sends it money fills it.
contract Faucet {
    uint256 public dripAmount = 0.5 ether;
    uint256 public cooldown = 24 hours;
    address public owner;
    mapping(address account => uint256) public lastDrip;

    event Dripped(address indexed to, uint256 amount);
    event Config(uint256 dripAmount, uint256 cooldown);

    modifier onlyOwner() {
        require(msg.sender == owner, "Faucet: not owner");
        _;
    }

    constructor(address owner_) payable {
        owner = owner_;
    }

    receive() external payable {}

    function drip() external {
        uint256 last = lastDrip[msg.sender];
        require(last == 0 || block.timestamp >= last + cooldown, "Faucet: cooldown");
        require(address(this).balance >= dripAmount, "Faucet: empty");
        lastDrip[msg.sender] = block.timestamp;
        emit Dripped(msg.sender, dripAmount);
        _send(msg.sender, dripAmount);
    }

    function setConfig(uint256 _dripAmount, uint256 _cooldown) external onlyOwner {
        dripAmount = _dripAmount;
        cooldown = _cooldown;
        emit Config(_dripAmount, _cooldown);
    }

    function withdraw(uint256 amount) external onlyOwner {
        _send(owner, amount);
    }

    function transferOwnership(address newOwner) external onlyOwner {
        require(newOwner != address(0), "Faucet: zero owner");
        owner = newOwner;
    }

    function _send(address to, uint256 amount) private {
        (bool ok, ) = to.call{value: amount}("");
        require(ok, "Faucet: send failed");
    }
}
