// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

/// An agent's token. Holders share what is distributed by what they hold at that moment: each unit's share only grows,
/// and a correction per account makes up for units that came or went since. (Not OpenZeppelin's ERC20: its errors differ.)
contract AgentToken {
    uint256 private constant MAGNITUDE = 2 ** 128;

    uint8 public constant decimals = 18;
    string public name;
    string public symbol;
    address public immutable factory;
    uint256 public immutable agentId;

    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;

    uint256 public magnifiedPerShare;
    uint256 public totalDistributed;
    mapping(address account => uint256) public distributionsClaimed;
    mapping(address account => int256) private corrections;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    error InsufficientAllowance();
    error InsufficientBalance();
    error NoSupply();
    error NotFactory();
    error ZeroAddress();

    modifier onlyFactory() {
        if (msg.sender != factory) revert NotFactory();
        _;
    }

    constructor(string memory name_, string memory symbol_, uint256 agentId_) {
        name = name_;
        symbol = symbol_;
        agentId = agentId_;
        factory = msg.sender;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _transfer(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed < value) revert InsufficientAllowance();
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        _transfer(from, to, value);
        return true;
    }

    function mint(address to, uint256 value) external onlyFactory {
        totalSupply += value;
        balanceOf[to] += value;
        corrections[to] -= int256(magnifiedPerShare * value);
        emit Transfer(address(0), to, value);
    }

    function burn(address from, uint256 value) external onlyFactory {
        if (balanceOf[from] < value) revert InsufficientBalance();
        totalSupply -= value;
        balanceOf[from] -= value;
        corrections[from] += int256(magnifiedPerShare * value);
        emit Transfer(from, address(0), value);
    }

    /// The money itself stays with the factory.
    function addDistribution(uint256 amount) external onlyFactory {
        if (totalSupply == 0) revert NoSupply();
        magnifiedPerShare += (amount * MAGNITUDE) / totalSupply;
        totalDistributed += amount;
    }

    /// Counts as claimed what the account may claim.
    function settleClaimable(address account) external onlyFactory returns (uint256 amount) {
        amount = claimable(account);
        distributionsClaimed[account] += amount;
    }

    function claimable(address account) public view returns (uint256) {
        return accumulative(account) - distributionsClaimed[account];
    }

    /// All that an account has ever earned.
    function accumulative(address account) public view returns (uint256) {
        int256 magnified = int256(magnifiedPerShare * balanceOf[account]) + corrections[account];
        return uint256(magnified) / MAGNITUDE;
    }

    function _transfer(address from, address to, uint256 value) private {
        if (to == address(0)) revert ZeroAddress();
        if (balanceOf[from] < value) revert InsufficientBalance();
        balanceOf[from] -= value;
        balanceOf[to] += value;
        int256 moved = int256(magnifiedPerShare * value);
        corrections[from] += moved;
        corrections[to] -= moved;
        emit Transfer(from, to, value);
    }
}
