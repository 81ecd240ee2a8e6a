// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

interface IERC1271 {
    function isValidSignature(bytes32 hash, bytes memory sig) external view returns (bytes4);
}

/// Signatures of 65 bytes by keys, else ERC-1271.
library Signatures {
    uint256 private constant HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    /// The key that signed, or zero. Refused: the compact form, a high s, a v that is neither 0, 1, 27 nor 28.
    function recover(bytes32 digest, bytes memory sig) internal pure returns (address) {
        if (sig.length != 65) return address(0);
        bytes32 r;
        bytes32 s;
        uint8 v;
        assembly {
            r := mload(add(sig, 32))
            s := mload(add(sig, 64))
            v := byte(0, mload(add(sig, 96)))
        }
        if (v < 2) v += 27;
        if (uint256(s) > HALF_ORDER || (v != 27 && v != 28)) return address(0);
        return ecrecover(digest, v, r, s);
    }

    function isSignedBy(address signer, bytes32 digest, bytes memory sig) internal view returns (bool) {
        if (signer != address(0) && recover(digest, sig) == signer) return true;
        return isAcceptedBy(signer, digest, sig);
    }

    /// A contract that reverts says no. One that answers something else than a bytes4 makes the caller revert, and one
    /// that burns gas takes 63/64 of it: what relays for others has to expect that.
    function isAcceptedBy(address signer, bytes32 digest, bytes memory sig) internal view returns (bool) {
        if (signer.code.length == 0) return false;
        try IERC1271(signer).isValidSignature(digest, sig) returns (bytes4 answer) {
            return answer == IERC1271.isValidSignature.selector;
        } catch {
            return false;
        }
    }
}
