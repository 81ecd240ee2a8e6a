// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Credits} from "../base/Credits.sol";
import {Fees} from "../base/Fees.sol";
import {Governed} from "../base/Governed.sol";
import {AgentRegistry} from "../jobs/AgentRegistry.sol";
import {AgentToken} from "./AgentToken.sol";

/// One token per agent, sold and bought back along a line: the price rises with the supply, and the reserve can always
/// buy back everything.
contract AgentTokenFactory is Fees, Credits {
    struct Curve {
        uint256 agentId;
        uint256 base;
        uint256 slope;
        uint256 reserve;
    }

    uint256 public constant MAX_PARAM = 1e30;

    AgentRegistry public immutable registry;
    address[] public tokens;
    mapping(uint256 agentId => address) public tokenOf;
    mapping(address token => Curve) private curves;

    event Launched(uint256 indexed agentId, address indexed token, string symbol);
    event Bought(address indexed token, address indexed buyer, uint256 fmxIn, uint256 fee, uint256 amountOut);
    event Sold(address indexed token, address indexed seller, uint256 amountIn, uint256 fmxOut);
    event Distributed(address indexed token, address indexed from, uint256 amount);
    event Claimed(address indexed token, address indexed holder, uint256 amount);

    error AlreadyLaunched(address token);
    error InvalidCurve();
    error InvalidSymbol();
    error NotAgentOwner();
    error NothingToClaim();
    error Slippage(uint256 got, uint256 min);
    error UnknownAgent();
    error UnknownToken();
    error ZeroValue();

    constructor(AgentRegistry registry_, address governance_, address feeRecipient_)
        Governed(governance_)
        Fees(100, feeRecipient_)
    {
        _requireAddress(address(registry_));
        registry = registry_;
    }

    modifier onlyKnown(address token) {
        if (curves[token].agentId == 0) revert UnknownToken();
        _;
    }

    /// `base` is the price of the first whole token, `slope` what each further one adds, both in wei.
    function launch(uint256 agentId, string calldata symbol, uint256 base, uint256 slope)
        external
        returns (address token)
    {
        AgentRegistry.Agent memory agent = registry.getAgent(agentId);
        if (agent.owner == address(0)) revert UnknownAgent();
        if (agent.owner != msg.sender) revert NotAgentOwner();
        if (tokenOf[agentId] != address(0)) revert AlreadyLaunched(tokenOf[agentId]);
        if (bytes(symbol).length == 0 || bytes(symbol).length > 11) revert InvalidSymbol();
        if (base > MAX_PARAM || slope > MAX_PARAM || (base == 0 && slope == 0)) revert InvalidCurve();
        token = address(new AgentToken(agent.name, symbol, agentId));
        tokenOf[agentId] = token;
        tokens.push(token);
        curves[token] = Curve(agentId, base, slope, 0);
        emit Launched(agentId, token, symbol);
    }

    function buy(address token, uint256 minOut) external payable nonReentrant onlyKnown(token) {
        if (msg.value == 0) revert ZeroValue();
        uint256 out = quoteBuy(token, msg.value);
        if (out == 0 || out < minOut) revert Slippage(out, minOut);
        uint256 fee = _fee(msg.value);
        _credit(feeRecipient, fee);
        curves[token].reserve += msg.value - fee;
        AgentToken(token).mint(msg.sender, out);
        emit Bought(token, msg.sender, msg.value, fee, out);
    }

    /// The proceeds become credit.
    function sell(address token, uint256 amount, uint256 minFmx) external nonReentrant onlyKnown(token) {
        if (amount == 0) revert ZeroValue();
        uint256 supply = AgentToken(token).totalSupply();
        // First, so that who has too little hears that.
        AgentToken(token).burn(msg.sender, amount);
        uint256 proceeds = _between(curves[token], supply - amount, supply);
        if (proceeds < minFmx) revert Slippage(proceeds, minFmx);
        curves[token].reserve -= proceeds;
        _credit(msg.sender, proceeds);
        emit Sold(token, msg.sender, amount, proceeds);
    }

    function distribute(address token) external payable onlyKnown(token) {
        if (msg.value == 0) revert ZeroValue();
        AgentToken(token).addDistribution(msg.value);
        emit Distributed(token, msg.sender, msg.value);
    }

    function claimDistribution(address token) external onlyKnown(token) {
        uint256 amount = AgentToken(token).settleClaimable(msg.sender);
        if (amount == 0) revert NothingToClaim();
        _credit(msg.sender, amount);
        emit Claimed(token, msg.sender, amount);
    }

    /// Rounded down until the reserve covers it.
    function quoteBuy(address token, uint256 fmxIn) public view onlyKnown(token) returns (uint256 out) {
        Curve memory curve = curves[token];
        uint256 supply = AgentToken(token).totalSupply();
        uint256 funds = _reserve(curve, supply) + fmxIn - _fee(fmxIn);
        uint256 target;
        if (curve.slope == 0) {
            target = (funds * 1e18) / curve.base;
        } else {
            uint256 root = Math.sqrt(curve.base * curve.base + 2 * curve.slope * funds);
            target = (1e18 * (root - curve.base)) / curve.slope;
        }
        while (target > supply && _reserve(curve, target) > funds) target--;
        return target > supply ? target - supply : 0;
    }

    function quoteSell(address token, uint256 amountIn) external view onlyKnown(token) returns (uint256 fmxOut) {
        uint256 supply = AgentToken(token).totalSupply();
        return _between(curves[token], supply - amountIn, supply);
    }

    /// Of the next whole token.
    function price(address token) external view onlyKnown(token) returns (uint256) {
        return curves[token].base + (curves[token].slope * AgentToken(token).totalSupply()) / 1e18;
    }

    function claimable(address token, address holder) external view onlyKnown(token) returns (uint256) {
        return AgentToken(token).claimable(holder);
    }

    /// Zeros for an unknown token.
    function getCurve(address token) external view returns (Curve memory) {
        return curves[token];
    }

    function tokenCount() external view returns (uint256) {
        return tokens.length;
    }

    function _between(Curve memory curve, uint256 from, uint256 to) private pure returns (uint256) {
        return _reserve(curve, to) - _reserve(curve, from);
    }

    /// What a supply has cost: the area below the line.
    function _reserve(Curve memory curve, uint256 supply) private pure returns (uint256) {
        return (curve.base * supply) / 1e18 + (curve.slope * supply * supply) / 2e36;
    }
}
