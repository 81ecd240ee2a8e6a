// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

/// Calls that several owners must agree to. Governance of the other contracts.
contract Multisig {
    struct Proposal {
        address to;
        uint256 value;
        bytes data;
        uint256 confirmations;
        bool executed;
    }

    address[] public owners;
    uint256 public immutable threshold;
    mapping(address account => bool) public isOwner;
    mapping(uint256 id => mapping(address owner => bool)) public confirmed;
    Proposal[] public proposals;

    event Proposed(uint256 indexed id, address indexed by, address indexed to, uint256 value, bytes data);
    event Confirmed(uint256 indexed id, address indexed by);
    event Executed(uint256 indexed id);

    modifier onlyOwner() {
        require(isOwner[msg.sender], "Multisig: not owner");
        _;
    }

    constructor(address[] memory owners_, uint256 threshold_) {
        require(threshold_ > 0 && threshold_ <= owners_.length, "Multisig: threshold");
        for (uint256 i = 0; i < owners_.length; i++) {
            require(owners_[i] != address(0) && !isOwner[owners_[i]], "Multisig: owners");
            isOwner[owners_[i]] = true;
        }
        owners = owners_;
        threshold = threshold_;
    }

    receive() external payable {}

    function propose(address to, uint256 value, bytes calldata data) external onlyOwner returns (uint256 id) {
        id = proposals.length;
        proposals.push(Proposal(to, value, data, 0, false));
        emit Proposed(id, msg.sender, to, value, data);
        confirm(id);
    }

    function proposalCount() external view returns (uint256) {
        return proposals.length;
    }

    /// The last one that is needed executes.
    function confirm(uint256 id) public onlyOwner {
        Proposal storage proposal = proposals[id];
        require(!proposal.executed, "Multisig: executed");
        require(!confirmed[id][msg.sender], "Multisig: confirmed");
        confirmed[id][msg.sender] = true;
        proposal.confirmations++;
        emit Confirmed(id, msg.sender);
        if (proposal.confirmations < threshold) return;
        proposal.executed = true;
        (bool ok, bytes memory answer) = proposal.to.call{value: proposal.value}(proposal.data);
        if (!ok) {
            assembly {
                revert(add(answer, 32), mload(answer))
            }
        }
        emit Executed(id);
    }
}
