//! What servers say to a transaction, in the words of geth, nethermind, erigon, besu, reth and anvil.
//!
//! The rule: what another time may mend is listed here, and all other words are a refusal for good, so that what nobody will
//! ever take does not hold up those behind it.

use gateway_chain::RpcFailure;

/// Words for: it is here already.
const KNOWN: &[&str] = &[
    "already known",
    "known transaction",
    "already imported",
    "alreadyknown",
    "already in mempool",
    "already in the mempool",
];

/// Words for: a higher fee would do.
const TOO_LOW: &[&str] = &[
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

/// Words for: another time perhaps, with another state of the account, the block, the pool or the server.
const NOT_NOW: &[&str] = &[
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

/// Codes of answers that are about the server and not about the transaction: no such method, not supported, too many questions.
const ABOUT_THE_SERVER: &[i64] = &[-32601, -32004, -32005];

#[derive(Debug, PartialEq, Eq)]
pub enum Reception {
    /// At least one has it.
    Taken,
    /// Nobody has it, and one at least would take it for more.
    TooLow,
    /// Nobody has it, and why; another time may do.
    NotNow(String),
    /// All that answered refuse it for good, and why.
    Never(String),
}

impl Reception {
    /// One server that has it is enough: it tells the others. One that may take it later is enough to wait.
    pub fn of(answers: Vec<Result<(), RpcFailure>>) -> Self {
        let mut reception = None;
        for answer in answers {
            let told = answer.map_or_else(|failure| Self::told_by(&failure), |()| Self::Taken);
            reception = Some(match (reception, told) {
                (Some(Self::Taken), _) | (_, Self::Taken) => Self::Taken,
                (Some(Self::NotNow(reason)), _) | (_, Self::NotNow(reason)) => Self::NotNow(reason),
                (Some(Self::TooLow), _) | (_, Self::TooLow) => Self::TooLow,
                (_, Self::Never(reason)) => Self::Never(reason),
            });
        }
        reception.unwrap_or_else(|| Self::NotNow("no RPC server answers".to_owned()))
    }

    fn told_by(failure: &RpcFailure) -> Self {
        let RpcFailure::Refused { code, message, .. } = failure else {
            return Self::NotNow(format!("an RPC server refuses it: {failure}"));
        };
        let message = message.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
        if says(KNOWN) {
            Self::Taken
        } else if says(TOO_LOW) {
            Self::TooLow
        } else if says(NOT_NOW) || ABOUT_THE_SERVER.contains(code) {
            Self::NotNow(format!("an RPC server refuses it: {failure}"))
        } else {
            Self::Never(format!("every RPC server refuses it: {failure}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(message: &str) -> Result<(), RpcFailure> {
        Err(RpcFailure::Refused { code: -32000, message: message.to_owned(), data: None })
    }

    #[test]
    fn what_servers_say_is_understood() {
        assert_eq!(Reception::of(vec![refused("already known"), refused("no")]), Reception::Taken);
        assert_eq!(Reception::of(vec![refused("replacement transaction underpriced")]), Reception::TooLow);
        assert_eq!(Reception::of(vec![refused("transaction underpriced: tip needed 1"), Ok(())]), Reception::Taken);
        let silent = Reception::of(vec![Err(RpcFailure::Garbage("already known".to_owned()))]);
        assert!(matches!(silent, Reception::NotNow(_)), "only an answer counts: {silent:?}");
        assert!(matches!(Reception::of(Vec::new()), Reception::NotNow(_)));
    }

    #[test]
    fn one_who_may_take_it_later_is_waited_for() {
        for later in ["nonce too low", "txpool is full", "insufficient funds for gas * price + value"] {
            for other in ["transaction underpriced", "invalid sender"] {
                for answers in [vec![refused(later), refused(other)], vec![refused(other), refused(later)]] {
                    let told = Reception::of(answers);
                    assert!(matches!(&told, Reception::NotNow(reason) if reason.contains(later)), "{told:?}");
                }
            }
        }
        let unknown = RpcFailure::Refused { code: -32601, message: "no such method".to_owned(), data: None };
        assert!(
            matches!(Reception::of(vec![Err(unknown)]), Reception::NotNow(_)),
            "it says nothing of the transaction"
        );
        let away = Err(RpcFailure::Timeout(8000));
        assert!(matches!(Reception::of(vec![refused("invalid sender"), away]), Reception::NotNow(_)));
        assert_eq!(Reception::of(vec![refused("invalid sender"), refused("underpriced")]), Reception::TooLow);
    }

    #[test]
    fn what_no_time_and_no_fee_mends_is_refused_for_good() {
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
            let told = Reception::of(vec![refused("something else"), refused(words)]);
            assert!(matches!(&told, Reception::Never(reason) if reason.contains(words)), "{told:?}");
        }
    }
}
