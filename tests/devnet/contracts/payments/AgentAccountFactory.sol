// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {AgentAccount} from "./AgentAccount.sol";

/// Makes accounts, for anyone, at addresses known before: ERC-1167 clones by CREATE2. (Not OpenZeppelin's Clones: a
/// repetition must fail with CreateFailed.)
contract AgentAccountFactory {
    address public immutable implementation;
    /// Stays true after the account changed its owner.
    mapping(address account => bool) public isAccount;
    mapping(address owner => uint256) public accountCount;

    event AccountCreated(address indexed owner, address indexed account);

    error CreateFailed();
    error ZeroAddress();

    constructor(address implementation_) {
        if (implementation_ == address(0)) revert ZeroAddress();
        implementation = implementation_;
    }

    function create(address owner, bytes32 salt) external returns (address account) {
        if (owner == address(0)) revert ZeroAddress();
        bytes memory code = _initCode();
        bytes32 mixed = _mix(owner, salt);
        assembly {
            account := create2(0, add(code, 32), mload(code), mixed)
        }
        if (account == address(0)) revert CreateFailed();
        isAccount[account] = true;
        accountCount[owner]++;
        AgentAccount(payable(account)).initialize(owner);
        emit AccountCreated(owner, account);
    }

    function predict(address owner, bytes32 salt) external view returns (address) {
        bytes32 hash = keccak256(
            abi.encodePacked(hex"ff", address(this), _mix(owner, salt), keccak256(_initCode()))
        );
        return address(uint160(uint256(hash)));
    }

    function _mix(address owner, bytes32 salt) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(owner, salt));
    }

    function _initCode() private view returns (bytes memory) {
        return abi.encodePacked(
            hex"3d602d80600a3d3981f3363d3d373d3d3d363d73", implementation, hex"5af43d82803e903d91602b57fd5bf3"
        );
    }
}
