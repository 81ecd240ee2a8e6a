// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {VAULT_NAME} from "../base/Brand.sol";
import {Fees} from "../base/Fees.sol";
import {Governed} from "../base/Governed.sol";
import {Payout} from "../base/Payout.sol";
import {Signed} from "../base/Signed.sol";

/// Prepaid balances, from which signed vouchers are paid. A voucher is for its own amount, and its nonce is good once.
contract X402Vault is Fees, Payout, Signed {
    struct Voucher {
        address payer;
        address payee;
        uint256 amount;
        uint256 nonce;
        uint64 expiry;
        bytes32 ref;
    }

    uint64 public constant UNLOCK_DELAY = 3600;
    bytes32 public constant VOUCHER_TYPEHASH = keccak256(
        "Voucher(address payer,address payee,uint256 amount,uint256 nonce,uint64 expiry,bytes32 ref)"
    );

    mapping(address payer => uint256) public balance;
    mapping(address payee => uint256) public credits;
    /// When the payer may take money out; 0 = locked.
    mapping(address payer => uint256) public unlockAt;
    mapping(address payer => mapping(uint256 nonce => bool)) public used;

    event Deposited(address indexed payer, uint256 amount);
    event Settled(
        address indexed payer, address indexed payee, uint256 amount, uint256 fee, uint256 nonce, bytes32 ref
    );
    event Skipped(address indexed payer, uint256 nonce, string reason);
    event UnlockRequested(address indexed payer, uint64 at);
    event Withdrawn(address indexed to, uint256 amount);
    event CreditsWithdrawn(address indexed to, uint256 amount);

    error InsufficientBalance(uint256 requested, uint256 available);
    error LengthMismatch();
    error Locked();
    error TooEarly(uint64 availableAt);
    error VoucherInvalid(string reason);
    error ZeroValue();

    constructor(address governance_, address feeRecipient_) Governed(governance_) Fees(100, feeRecipient_) {}

    function NAME() public view override returns (string memory) {
        return VAULT_NAME;
    }

    /// Does not lock again what was unlocked.
    function deposit() external payable {
        _deposit(msg.sender);
    }

    function depositFor(address payer) external payable {
        _requireAddress(payer);
        _deposit(payer);
    }

    /// A repetition moves the time. Vouchers settle meanwhile.
    function requestUnlock() external {
        uint64 at = uint64(block.timestamp) + UNLOCK_DELAY;
        unlockAt[msg.sender] = at;
        emit UnlockRequested(msg.sender, at);
    }

    function withdraw(uint256 amount) external nonReentrant {
        if (amount == 0) revert ZeroValue();
        uint256 at = unlockAt[msg.sender];
        if (at == 0) revert Locked();
        if (block.timestamp < at) revert TooEarly(uint64(at));
        uint256 available = balance[msg.sender];
        if (amount > available) revert InsufficientBalance(amount, available);
        balance[msg.sender] = available - amount;
        unlockAt[msg.sender] = 0;
        emit Withdrawn(msg.sender, amount);
        _pay(msg.sender, amount);
    }

    function withdrawCredits() external nonReentrant {
        uint256 amount = credits[msg.sender];
        if (amount == 0) revert NothingToWithdraw();
        credits[msg.sender] = 0;
        emit CreditsWithdrawn(msg.sender, amount);
        _pay(msg.sender, amount);
    }

    function settle(Voucher calldata v, bytes calldata sig) external nonReentrant {
        (bool ok, string memory reason) = verify(v, sig);
        if (!ok) revert VoucherInvalid(reason);
        _settle(v);
    }

    /// What is invalid is skipped, and the rest goes on; each voucher meets the balance that those before it left.
    function settleBatch(Voucher[] calldata vs, bytes[] calldata sigs) external nonReentrant {
        if (vs.length != sigs.length) revert LengthMismatch();
        for (uint256 i = 0; i < vs.length; i++) {
            (bool ok, string memory reason) = verify(vs[i], sigs[i]);
            if (ok) _settle(vs[i]);
            else emit Skipped(vs[i].payer, vs[i].nonce, reason);
        }
    }

    /// The first thing that is wrong, in this order.
    function verify(Voucher calldata v, bytes calldata sig) public view returns (bool ok, string memory reason) {
        if (v.payer == address(0)) return (false, "zero payer");
        if (v.payee == address(0)) return (false, "zero payee");
        if (v.amount == 0) return (false, "zero amount");
        if (block.timestamp > v.expiry) return (false, "expired");
        if (used[v.payer][v.nonce]) return (false, "nonce used");
        if (balance[v.payer] < v.amount) return (false, "insufficient balance");
        if (!_isSignedBy(v.payer, hashVoucher(v), sig)) return (false, "bad signature");
        return (true, "");
    }

    /// What the payer signs.
    function hashVoucher(Voucher calldata v) public view returns (bytes32) {
        return _digest(
            keccak256(abi.encode(VOUCHER_TYPEHASH, v.payer, v.payee, v.amount, v.nonce, v.expiry, v.ref))
        );
    }

    function _deposit(address payer) private {
        if (msg.value == 0) revert ZeroValue();
        balance[payer] += msg.value;
        emit Deposited(payer, msg.value);
    }

    function _settle(Voucher calldata v) private {
        used[v.payer][v.nonce] = true;
        balance[v.payer] -= v.amount;
        uint256 fee = _fee(v.amount);
        credits[v.payee] += v.amount - fee;
        credits[feeRecipient] += fee;
        emit Settled(v.payer, v.payee, v.amount, fee, v.nonce, v.ref);
    }
}
