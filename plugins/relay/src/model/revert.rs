//! Why a call would fail, as plain text.

use plugin_api::Hash256;

/// Errors of the network's contracts that a sponsored call can end with, and what they mean to its sender.
const ERRORS: [(&str, &str); 21] = [
    ("Expired(uint64)", "the deadline has passed"),
    ("BadSignature()", "neither the owner nor a session key has signed this call with the account's present nonce"),
    ("TargetNotAllowed(address)", "the session key may not call this contract"),
    ("CapExceeded(uint256,uint256)", "the value is above what the session key may spend today"),
    ("NotAuthorized()", "the signer or the account may not do this"),
    ("SessionExpired()", "the session key has expired"),
    ("CallFailed()", "the called contract failed without a reason, or the account cannot pay the value"),
    ("CreateFailed()", "the account exists"),
    ("WrongStatus(uint8)", "the job or agent is in another state"),
    ("TooEarly(uint64)", "it is too early"),
    ("TooLate(uint64)", "it is too late"),
    ("NotClient()", "the account is not the job's client"),
    ("NotAgentOwner()", "the account does not own the agent"),
    ("NotOwner()", "the account is not the owner"),
    ("AgentNotActive(uint256)", "the agent is not active"),
    ("InsufficientPayment(uint256,uint256)", "the payment is too small"),
    ("CannotHireOwnAgent()", "an owner cannot hire an agent of his own"),
    ("VoucherInvalid(string)", "the voucher is not valid"),
    ("PrevRootMismatch(bytes32,bytes32)", "the log was anchored meanwhile"),
    ("RequestExists(bytes32)", "the request exists"),
    ("ExpiredSignature(uint64)", "the signature inside the call has expired"),
];

/// The server's reason, with the meaning of a contract's error that it names by its selector.
pub fn plain_reason(reason: &str) -> String {
    match selector(reason).and_then(meaning) {
        Some((error, meaning)) => format!("{meaning} ({error})"),
        None => reason.to_owned(),
    }
}

/// The first `0x` with eight hex digits.
fn selector(reason: &str) -> Option<[u8; 4]> {
    let found = reason.match_indices("0x").find_map(|(at, _)| {
        let digits = reason.get(at + 2..at + 10)?;
        hex::decode(digits).ok()
    })?;
    found.try_into().ok()
}

fn meaning(selector: [u8; 4]) -> Option<(&'static str, &'static str)> {
    let is_it = |signature: &str| Hash256::keccak(signature.as_bytes()).0.starts_with(&selector);
    ERRORS.into_iter().find(|(signature, _)| is_it(signature))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_contracts_are_explained() {
        // As anvil says it.
        let reason = plain_reason("execution reverted: custom error 0x5cd5d233");
        assert!(
            reason.starts_with("neither the owner nor a session key") && reason.ends_with("(BadSignature())"),
            "{reason}"
        );
        assert!(plain_reason("0x359011cc0000").contains("another state"));
        for other in [
            "execution reverted: not now",
            "custom error 0x00000000",
            "0x12",
            "gas required exceeds allowance (300000)",
        ] {
            assert_eq!(plain_reason(other), other);
        }
    }
}
