//! Who signed a digest.

use alloy_primitives::{Address, B256, Signature, U256, hex, uint};

/// Half of the order of secp256k1: of the two signatures with one meaning only the lower one is accepted.
const HALF_ORDER: U256 = uint!(0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0_U256);

/// A signature is `0x` and 130 lower-case hex digits: r, s, and v of 27 or 28, or 0 or 1.
pub(crate) fn signer(digest: B256, signature: &str) -> Result<Address, String> {
    let shape = || "it is not 0x and 130 lower-case hex digits".to_owned();
    let digits = signature.strip_prefix("0x").filter(|digits| digits.len() == 130).ok_or_else(shape)?;
    if digits.bytes().any(|digit| digit.is_ascii_uppercase()) {
        return Err(shape());
    }
    let mut bytes = [0; 65];
    hex::decode_to_slice(digits, &mut bytes).map_err(|_no_digits: hex::FromHexError| shape())?;
    let [scalars @ .., v] = bytes;
    let is_odd = match v {
        0 | 27 => false,
        1 | 28 => true,
        _ => return Err(format!("its last byte is {v}, not 27 or 28")),
    };
    let signature = Signature::from_bytes_and_parity(&scalars, is_odd);
    if signature.s() > HALF_ORDER {
        return Err("its s is in the upper half".to_owned());
    }
    let recovered = signature.recover_address_from_prehash(&digest);
    recovered.map_err(|error| format!("nobody can have made it: {error}"))
}
