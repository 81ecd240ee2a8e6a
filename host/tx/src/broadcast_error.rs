//! What the servers' responses to a broadcast transaction mean, by the messages of geth, nethermind, erigon, besu, reth
//! and anvil.
//!
//! The rule: messages of temporary errors are listed here, and every other message is a rejection for good, so that a
//! transaction that no server will ever accept does not hold up those behind it.

use gateway_chain::RpcError;

/// The server already has the transaction.
const ALREADY_KNOWN: &[&str] = &[
    "already known",
    "known transaction",
    "already imported",
    "alreadyknown",
    "already in mempool",
    "already in the mempool",
];

/// A higher fee would be accepted.
const UNDERPRICED: &[&str] = &[
    "underpriced",
    "fee too low",
    "feetoolow",
    "tip too low",
    "below the minimum",
    "below minimum",
    "below configured minimum",
    "gas price too low",
    "price is too low",
    "below chain minimum",
    "gas price to replace",
    "replacementnotallowed",
];

/// It may be accepted later, with another state of the account, the block, the pool or the server.
const TEMPORARY: &[&str] = &[
    "nonce",
    "insufficient funds",
    "insufficientfunds",
    "insufficient balance",
    "exceeds account balance",
    "enough funds",
    "base fee",
    "basefee",
    "full",
    "account limit",
    "in-flight",
    "replace pending",
    "reserved",
    "rate limit",
    "request limit",
    "quota",
    "too many",
    "capacity",
    "busy",
    "sync",
    "timeout",
    "timed out",
    "temporar",
    "try again",
    "unavailable",
    "internal error",
    "header not found",
    "unauthorized",
    "forbidden",
    "api key",
];

/// Error codes that say nothing about the transaction: no such method, not supported, too many requests.
const SERVER_ERROR_CODES: &[i64] = &[-32601, -32004, -32005];

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BroadcastError {
    /// No server accepted it, and at least one would for a higher fee.
    Underpriced,
    /// No server accepted it, and at least one may later.
    Temporary(String),
    /// Every server that responded rejects it for good.
    Rejected(String),
}

/// Combines the servers' responses. One server that has the transaction is enough, because it tells the others; one
/// that may accept it later is enough to wait for.
pub(crate) fn broadcast_result(responses: Vec<Result<(), RpcError>>) -> Result<(), BroadcastError> {
    use BroadcastError::{Rejected, Temporary, Underpriced};
    let results = responses.into_iter().map(|response| response.or_else(|failure| classify(&failure)));
    let combined = results.reduce(|combined, result| match (combined, result) {
        (Ok(()), _) | (_, Ok(())) => Ok(()),
        (Err(Temporary(reason)), _) | (_, Err(Temporary(reason))) => Err(Temporary(reason)),
        (Err(Underpriced), _) | (_, Err(Underpriced)) => Err(Underpriced),
        (_, Err(Rejected(reason))) => Err(Rejected(reason)),
    });
    combined.unwrap_or_else(|| Err(Temporary("no RPC server answers".to_owned())))
}

fn classify(failure: &RpcError) -> Result<(), BroadcastError> {
    let RpcError::ErrorResponse { code, message, .. } = failure else {
        return Err(BroadcastError::Temporary(format!("an RPC server refuses it: {failure}")));
    };
    let message = message.to_lowercase();
    let contains_any = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    if contains_any(ALREADY_KNOWN) {
        Ok(())
    } else if contains_any(UNDERPRICED) {
        Err(BroadcastError::Underpriced)
    } else if contains_any(TEMPORARY) || SERVER_ERROR_CODES.contains(code) {
        Err(BroadcastError::Temporary(format!("an RPC server refuses it: {failure}")))
    } else {
        Err(BroadcastError::Rejected(format!("every RPC server refuses it: {failure}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(message: &str) -> Result<(), RpcError> {
        Err(RpcError::ErrorResponse { code: -32000, message: message.to_owned() })
    }

    #[test]
    fn messages_of_servers_are_classified() {
        assert_eq!(broadcast_result(vec![refused("already known"), refused("no")]), Ok(()));
        assert_eq!(
            broadcast_result(vec![refused("replacement transaction underpriced")]),
            Err(BroadcastError::Underpriced)
        );
        assert_eq!(broadcast_result(vec![refused("transaction underpriced: tip needed 1"), Ok(())]), Ok(()));
        let silent = broadcast_result(vec![Err(RpcError::InvalidJsonRpc("already known".to_owned()))]);
        assert!(matches!(silent, Err(BroadcastError::Temporary(_))), "only an answer counts: {silent:?}");
        assert!(matches!(broadcast_result(Vec::new()), Err(BroadcastError::Temporary(_))));
    }

    #[test]
    fn one_temporary_error_outweighs_rejections() {
        for later in ["nonce too low", "txpool is full", "insufficient funds for gas * price + value"] {
            for other in ["transaction underpriced", "invalid sender"] {
                for responses in [vec![refused(later), refused(other)], vec![refused(other), refused(later)]] {
                    let result = broadcast_result(responses);
                    assert!(
                        matches!(&result, Err(BroadcastError::Temporary(reason)) if reason.contains(later)),
                        "{result:?}"
                    );
                }
            }
        }
        let unknown = RpcError::ErrorResponse { code: -32601, message: "no such method".to_owned() };
        assert!(
            matches!(broadcast_result(vec![Err(unknown)]), Err(BroadcastError::Temporary(_))),
            "it says nothing of the transaction"
        );
        let away = Err(RpcError::Timeout(8000));
        assert!(matches!(broadcast_result(vec![refused("invalid sender"), away]), Err(BroadcastError::Temporary(_))));
        assert_eq!(
            broadcast_result(vec![refused("invalid sender"), refused("underpriced")]),
            Err(BroadcastError::Underpriced)
        );
    }

    #[test]
    fn other_messages_reject_the_transaction_for_good() {
        let fatal = [
            "invalid sender",
            "intrinsic gas too low: gas 21000, minimum needed 53000",
            "oversized data: transaction size 140000, limit 131072",
            "exceeds block gas limit",
            "insufficient gas for floor data gas cost",
            "transaction type not supported",
            "tx fee (1.20 ether) exceeds the configured cap (1.00 ether)",
            "Intrinsic gas exceeds gas limit",
            "SenderIsContract",
            "Transaction gas limit exceeds block gas limit",
        ];
        for words in fatal {
            let result = broadcast_result(vec![refused("something else"), refused(words)]);
            assert!(matches!(&result, Err(BroadcastError::Rejected(reason)) if reason.contains(words)), "{result:?}");
        }
    }
}
