// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {ACCOUNT_NAME} from "../base/Brand.sol";
import {Guarded} from "../base/Guarded.sol";
import {Signatures} from "../base/Signatures.sol";
import {Signed} from "../base/Signed.sol";

/// A wallet as a contract: its owner may do all, session keys what their policy allows. Used through clones.
contract AgentAccount is Guarded, Signed {
    struct Session {
        uint256 capPerDay;
        uint256 spentToday;
        uint64 dayStart;
        uint64 expiry;
        bool anyTarget;
    }

    bytes32 public constant EXECUTE_TYPEHASH =
        keccak256("Execute(address to,uint256 value,bytes32 dataHash,uint256 nonce,uint64 deadline)");
    bytes4 private constant ERC1271_MAGIC = 0x1626ba7e;

    address public owner;
    uint256 public nonce;
    mapping(address key => Session) public sessions;
    mapping(address key => mapping(address target => bool)) public allowedTarget;
    mapping(address key => address[]) private targetsOf;

    event Initialized(address indexed owner);
    event SessionAdded(address indexed key, uint256 capPerDay, uint64 expiry);
    event SessionRevoked(address indexed key);
    event Executed(address indexed by, address indexed to, uint256 value, bool ok);
    event OwnershipTransferred(address indexed previous, address indexed current);
    event Received(address indexed from, uint256 amount);

    error AlreadyInitialized();
    error BadSignature();
    error CallFailed();
    error CapExceeded(uint256 requested, uint256 remaining);
    error Expired(uint64 deadline);
    error LengthMismatch();
    error NotAuthorized();
    error NotOwner();
    error SessionExpired();
    error TargetNotAllowed(address target);
    error ZeroAddress();

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner();
        _;
    }

    /// Nobody may ever initialize the implementation itself.
    constructor() {
        owner = address(1);
    }

    receive() external payable {
        emit Received(msg.sender, msg.value);
    }

    function NAME() public view override returns (string memory) {
        return ACCOUNT_NAME;
    }

    function initialize(address owner_) external {
        if (owner != address(0)) revert AlreadyInitialized();
        _requireAddress(owner_);
        owner = owner_;
        emit Initialized(owner_);
        emit OwnershipTransferred(address(0), owner_);
    }

    function transferOwnership(address newOwner) external onlyOwner {
        _requireAddress(newOwner);
        emit OwnershipTransferred(owner, newOwner);
        owner = newOwner;
    }

    /// Replaces what the key had. An empty list of targets allows any.
    function addSession(address key, uint256 capPerDay, uint64 expiry, address[] calldata targets)
        external
        onlyOwner
    {
        _requireAddress(key);
        if (expiry <= block.timestamp) revert SessionExpired();
        _clearTargets(key);
        for (uint256 i = 0; i < targets.length; i++) {
            allowedTarget[key][targets[i]] = true;
            targetsOf[key].push(targets[i]);
        }
        sessions[key] = Session(capPerDay, 0, uint64(block.timestamp), expiry, targets.length == 0);
        emit SessionAdded(key, capPerDay, expiry);
    }

    function revokeSession(address key) external onlyOwner {
        _clearTargets(key);
        delete sessions[key];
        emit SessionRevoked(key);
    }

    function execute(address to, uint256 value, bytes calldata data) external nonReentrant returns (bytes memory) {
        _authorize(msg.sender, to, value);
        return _execute(msg.sender, to, value, data);
    }

    function executeBatch(address[] calldata to, uint256[] calldata value, bytes[] calldata data)
        external
        nonReentrant
    {
        if (to.length != value.length || to.length != data.length) revert LengthMismatch();
        for (uint256 i = 0; i < to.length; i++) {
            _authorize(msg.sender, to[i], value[i]);
            _execute(msg.sender, to[i], value[i], data[i]);
        }
    }

    /// Relayed by anyone. A call that fails uses no nonce, because it reverts everything.
    function executeWithSig(address to, uint256 value, bytes calldata data, uint64 deadline, bytes calldata sig)
        external
        nonReentrant
        returns (bytes memory)
    {
        if (block.timestamp > deadline) revert Expired(deadline);
        address signer = _signerOf(hashExecute(to, value, keccak256(data), nonce, deadline), sig);
        _authorize(signer, to, value);
        nonce++;
        return _execute(signer, to, value, data);
    }

    /// What a relayed call signs.
    function hashExecute(address to, uint256 value, bytes32 dataHash, uint256 nonce_, uint64 deadline)
        public
        view
        returns (bytes32)
    {
        return _digest(keccak256(abi.encode(EXECUTE_TYPEHASH, to, value, dataHash, nonce_, deadline)));
    }

    /// Yes for any hash that the owner or a session key signed: neither cap nor targets are looked at.
    function isValidSignature(bytes32 hash, bytes calldata sig) external view returns (bytes4) {
        address signer = Signatures.recover(hash, sig);
        bool known = signer != address(0) && isSigner(signer);
        return known || Signatures.isAcceptedBy(owner, hash, sig) ? ERC1271_MAGIC : bytes4(0xffffffff);
    }

    function isSigner(address key) public view returns (bool) {
        return key == owner || block.timestamp < sessions[key].expiry;
    }

    function sessionTargets(address key) external view returns (address[] memory) {
        return targetsOf[key];
    }

    /// The owner or a key that has a session, also one that is over; else the owner if it is a contract that agrees.
    function _signerOf(bytes32 digest, bytes calldata sig) private view returns (address) {
        address signer = Signatures.recover(digest, sig);
        if (signer != address(0) && (signer == owner || sessions[signer].expiry != 0)) return signer;
        if (Signatures.isAcceptedBy(owner, digest, sig)) return owner;
        revert BadSignature();
    }

    /// The policy of a session; only the value of a call counts against its cap.
    function _authorize(address by, address to, uint256 value) private {
        if (by == owner) return;
        Session storage session = sessions[by];
        if (session.expiry == 0) revert NotAuthorized();
        if (block.timestamp >= session.expiry) revert SessionExpired();
        if (!session.anyTarget && !allowedTarget[by][to]) revert TargetNotAllowed(to);
        if (block.timestamp >= uint256(session.dayStart) + 1 days) {
            session.dayStart = uint64(block.timestamp);
            session.spentToday = 0;
        }
        uint256 remaining = session.capPerDay - session.spentToday;
        if (value > remaining) revert CapExceeded(value, remaining);
        session.spentToday += value;
    }

    function _execute(address by, address to, uint256 value, bytes calldata data) private returns (bytes memory) {
        (bool ok, bytes memory answer) = to.call{value: value}(data);
        if (!ok) {
            if (answer.length == 0) revert CallFailed();
            assembly {
                revert(add(answer, 32), mload(answer))
            }
        }
        emit Executed(by, to, value, true);
        return answer;
    }

    function _clearTargets(address key) private {
        address[] storage targets = targetsOf[key];
        for (uint256 i = 0; i < targets.length; i++) {
            allowedTarget[key][targets[i]] = false;
        }
        delete targetsOf[key];
    }

    function _requireAddress(address account) private pure {
        if (account == address(0)) revert ZeroAddress();
    }
}
