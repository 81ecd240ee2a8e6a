//! The reasons of intents that have failed by their call, and the code that plugins get for one.
//!
//! Only the reason is stored, so the code is read from it: a text here must not change, because rows of earlier versions have it.

use plugin_api::manifest::IntentFailure;
use std::fmt::Display;

const WOULD_REVERT: &str = "it would revert: ";
const TAKES_MORE_GAS: &str = "it would take ";
const REVERTED: &str = "the call reverted in block ";

/// The call reverts when its gas is estimated.
pub(crate) fn would_revert(error: &impl Display) -> String {
    format!("{WOULD_REVERT}{error}")
}

/// The call takes more gas than the intent's limit.
pub(crate) fn takes_more_gas(estimate: u64, limit: u64) -> String {
    format!("{TAKES_MORE_GAS}{estimate} gas, and its limit is {limit}")
}

/// The call reverted in a final block.
pub(crate) fn reverted(block: i64) -> String {
    format!("{REVERTED}{block}")
}

/// The code for the reason of an intent that has failed.
pub(crate) fn failure_of(reason: &str) -> IntentFailure {
    if reason.starts_with(WOULD_REVERT) || reason.starts_with(REVERTED) {
        IntentFailure::Reverted
    } else if reason.starts_with(TAKES_MORE_GAS) {
        IntentFailure::OutOfGas
    } else {
        IntentFailure::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_reason_has_a_code() {
        let codes = [
            (would_revert(&"execution reverted: not now"), IntentFailure::Reverted),
            ("it would revert: execution reverted: not now".to_owned(), IntentFailure::Reverted),
            ("the call reverted in block 7".to_owned(), IntentFailure::Reverted),
            (reverted(7), IntentFailure::Reverted),
            ("it would take 50000 gas, and its limit is 49999".to_owned(), IntentFailure::OutOfGas),
            (takes_more_gas(2, 1), IntentFailure::OutOfGas),
            ("its limit of 2 gas is more than a block holds (1)".to_owned(), IntentFailure::Other),
            ("its time was over before its turn came".to_owned(), IntentFailure::Other),
            (String::new(), IntentFailure::Other),
        ];
        for (reason, code) in codes {
            assert_eq!(failure_of(&reason), code, "{reason}");
        }
    }
}
