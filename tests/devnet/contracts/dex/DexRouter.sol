// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {WFMX as WrappedFMX} from "./WFMX.sol";

interface IPairFactory {
    function getPair(address tokenA, address tokenB) external view returns (address);
    function createPair(address tokenA, address tokenB) external returns (address);
}

interface IPair {
    function getReserves() external view returns (uint112 reserve0, uint112 reserve1, uint32 blockTimestampLast);
    function mint(address to) external returns (uint256 liquidity);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
}

/// Swaps and liquidity over the pairs of a factory. Rule of a pair: what comes in is paid before the call.
contract DexRouter {
    using SafeERC20 for IERC20;

    address public immutable factory;
    address public immutable WFMX;

    constructor(address factory_, address wfmx) {
        factory = factory_;
        WFMX = wfmx;
    }

    modifier ensure(uint256 deadline) {
        require(block.timestamp <= deadline, "DexRouter: expired");
        _;
    }

    receive() external payable {
        require(msg.sender == WFMX, "DexRouter: only WFMX");
    }

    function swapExactFMXForTokens(uint256 amountOutMin, address[] calldata path, address to, uint256 deadline)
        external
        payable
        ensure(deadline)
        returns (uint256[] memory amounts)
    {
        require(path[0] == WFMX, "DexRouter: path");
        amounts = _amountsOut(msg.value, amountOutMin, path);
        WrappedFMX(payable(WFMX)).deposit{value: msg.value}();
        IERC20(WFMX).safeTransfer(_pair(path[0], path[1]), msg.value);
        _swap(amounts, path, to);
    }

    function swapExactTokensForFMX(
        uint256 amountIn,
        uint256 amountOutMin,
        address[] calldata path,
        address to,
        uint256 deadline
    ) external ensure(deadline) returns (uint256[] memory amounts) {
        require(path[path.length - 1] == WFMX, "DexRouter: path");
        amounts = _amountsOut(amountIn, amountOutMin, path);
        IERC20(path[0]).safeTransferFrom(msg.sender, _pair(path[0], path[1]), amountIn);
        _swap(amounts, path, address(this));
        uint256 out = amounts[amounts.length - 1];
        WrappedFMX(payable(WFMX)).withdraw(out);
        _send(to, out);
    }

    function swapExactTokensForTokens(
        uint256 amountIn,
        uint256 amountOutMin,
        address[] calldata path,
        address to,
        uint256 deadline
    ) external ensure(deadline) returns (uint256[] memory amounts) {
        amounts = _amountsOut(amountIn, amountOutMin, path);
        IERC20(path[0]).safeTransferFrom(msg.sender, _pair(path[0], path[1]), amountIn);
        _swap(amounts, path, to);
    }

    function addLiquidity(
        address tokenA,
        address tokenB,
        uint256 amountADesired,
        uint256 amountBDesired,
        uint256 amountAMin,
        uint256 amountBMin,
        uint256 minLiquidity,
        address to,
        uint256 deadline
    ) external ensure(deadline) returns (uint256 amountA, uint256 amountB, uint256 liquidity) {
        address pair = _pairOrNew(tokenA, tokenB);
        (amountA, amountB) = _fit(pair, tokenA, tokenB, amountADesired, amountBDesired);
        require(amountA >= amountAMin && amountB >= amountBMin, "DexRouter: amounts");
        IERC20(tokenA).safeTransferFrom(msg.sender, pair, amountA);
        IERC20(tokenB).safeTransferFrom(msg.sender, pair, amountB);
        liquidity = IPair(pair).mint(to);
        require(liquidity >= minLiquidity, "DexRouter: liquidity");
    }

    /// What was sent too much goes back.
    function addLiquidityFMX(
        address token,
        uint256 amountTokenDesired,
        uint256 amountTokenMin,
        uint256 amountFMXMin,
        uint256 minLiquidity,
        address to,
        uint256 deadline
    ) external payable ensure(deadline) returns (uint256 amountToken, uint256 amountFMX, uint256 liquidity) {
        address pair = _pairOrNew(token, WFMX);
        (amountToken, amountFMX) = _fit(pair, token, WFMX, amountTokenDesired, msg.value);
        require(amountToken >= amountTokenMin && amountFMX >= amountFMXMin, "DexRouter: amounts");
        IERC20(token).safeTransferFrom(msg.sender, pair, amountToken);
        WrappedFMX(payable(WFMX)).deposit{value: amountFMX}();
        IERC20(WFMX).safeTransfer(pair, amountFMX);
        liquidity = IPair(pair).mint(to);
        require(liquidity >= minLiquidity, "DexRouter: liquidity");
        if (msg.value > amountFMX) _send(msg.sender, msg.value - amountFMX);
    }

    /// With 0.30 % for those who provide the liquidity.
    function getAmountsOut(uint256 amountIn, address[] calldata path) public view returns (uint256[] memory amounts) {
        require(path.length >= 2, "DexRouter: path");
        amounts = new uint256[](path.length);
        amounts[0] = amountIn;
        for (uint256 i = 0; i + 1 < path.length; i++) {
            (uint256 reserveIn, uint256 reserveOut) = _reserves(_pair(path[i], path[i + 1]), path[i], path[i + 1]);
            require(amounts[i] > 0 && reserveIn > 0 && reserveOut > 0, "DexRouter: no liquidity");
            uint256 afterFee = amounts[i] * 997;
            amounts[i + 1] = (afterFee * reserveOut) / (reserveIn * 1000 + afterFee);
        }
    }

    function _amountsOut(uint256 amountIn, uint256 amountOutMin, address[] calldata path)
        private
        view
        returns (uint256[] memory amounts)
    {
        amounts = getAmountsOut(amountIn, path);
        require(amounts[amounts.length - 1] >= amountOutMin, "DexRouter: output");
    }

    function _swap(uint256[] memory amounts, address[] calldata path, address to) private {
        for (uint256 i = 0; i + 1 < path.length; i++) {
            uint256 out = amounts[i + 1];
            address next = i + 2 < path.length ? _pair(path[i + 1], path[i + 2]) : to;
            (uint256 out0, uint256 out1) = path[i] < path[i + 1] ? (uint256(0), out) : (out, uint256(0));
            IPair(_pair(path[i], path[i + 1])).swap(out0, out1, next, "");
        }
    }

    /// As much of both as keeps the price; everything in an empty pair.
    function _fit(address pair, address tokenA, address tokenB, uint256 desiredA, uint256 desiredB)
        private
        view
        returns (uint256 amountA, uint256 amountB)
    {
        (uint256 reserveA, uint256 reserveB) = _reserves(pair, tokenA, tokenB);
        if (reserveA == 0 && reserveB == 0) return (desiredA, desiredB);
        uint256 matchingB = (desiredA * reserveB) / reserveA;
        if (matchingB <= desiredB) return (desiredA, matchingB);
        return ((desiredB * reserveA) / reserveB, desiredB);
    }

    function _reserves(address pair, address tokenA, address tokenB) private view returns (uint256, uint256) {
        (uint112 reserve0, uint112 reserve1, ) = IPair(pair).getReserves();
        return tokenA < tokenB ? (reserve0, reserve1) : (reserve1, reserve0);
    }

    function _pair(address tokenA, address tokenB) private view returns (address pair) {
        pair = IPairFactory(factory).getPair(tokenA, tokenB);
        require(pair != address(0), "DexRouter: no pair");
    }

    function _pairOrNew(address tokenA, address tokenB) private returns (address pair) {
        pair = IPairFactory(factory).getPair(tokenA, tokenB);
        if (pair == address(0)) pair = IPairFactory(factory).createPair(tokenA, tokenB);
    }

    function _send(address to, uint256 amount) private {
        (bool ok, ) = to.call{value: amount}("");
        require(ok, "DexRouter: send failed");
    }
}
