// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

import {Signatures} from "./Signatures.sol";

/// EIP-712 with version 1. The separator is computed at each call, so it is right at any address: for clones, and for
/// code that a test puts elsewhere.
abstract contract Signed {
    string public constant VERSION = "1";

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

    function NAME() public view virtual returns (string memory);

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        bytes32 name = keccak256(bytes(NAME()));
        return keccak256(abi.encode(DOMAIN_TYPEHASH, name, keccak256(bytes(VERSION)), block.chainid, address(this)));
    }

    function _digest(bytes32 structHash) internal view returns (bytes32) {
        return keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), structHash));
    }

    function _isSignedBy(address signer, bytes32 digest, bytes memory sig) internal view returns (bool) {
        return Signatures.isSignedBy(signer, digest, sig);
    }
}
