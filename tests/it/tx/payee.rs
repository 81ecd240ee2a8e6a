//! Whom the payments under test go to, on both sides of the test.

use alloy_primitives::U256;
use plugin_api::Address;

/// Blocks after which an inclusion is final.
pub const DEPTH: u64 = 6;

/// What a server says that refuses a payment for good.
pub const REFUSED: &str = "exceeds block gas limit";

/// An account that nobody but this payment pays to.
pub fn account(number: i64) -> Address {
    let mut bytes = [0x77; 20];
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    Address(bytes)
}

/// Other with every payment, so that a sum tells which ones it holds.
pub fn amount(number: i64) -> U256 {
    U256::from(number.unsigned_abs()) * U256::from(1_000_003u64)
}
