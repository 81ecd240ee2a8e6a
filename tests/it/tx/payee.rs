//! The recipients of the payments, for the test and for the process under test.

use alloy_primitives::U256;
use plugin_api::Address;

/// Blocks after which an inclusion is final.
pub const DEPTH: u64 = 6;

/// What a server says that refuses a payment for good.
pub const REFUSED: &str = "exceeds block gas limit";

/// An account that only this payment pays to.
pub fn account(number: i64) -> Address {
    let mut bytes = [0x77; 20];
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    Address(bytes)
}

/// Different for every payment, so that a sum shows which payments it contains.
pub fn amount(number: i64) -> U256 {
    U256::from(number.unsigned_abs()) * U256::from(1_000_003u64)
}
