//! Errors of RPC servers and chains. The rule: no text repeats the address of a server, which may hold a key.

/// Why a request to one server failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    #[error("no answer within {0} ms")]
    Timeout(u64),
    #[error("not reachable: {0}")]
    Unreachable(String),
    #[error("HTTP status {0}")]
    Status(u16),
    #[error("the answer is no JSON-RPC: {0}")]
    InvalidJsonRpc(String),
    #[error("the answer is of another type than was asked for: {0}")]
    WrongType(String),
    #[error("the answer has more than {0} bytes")]
    TooLarge(usize),
    /// A JSON-RPC error object: the server works, and rejects this request.
    #[error("{message} (code {code})")]
    ErrorResponse { code: i64, message: String },
    /// The server lacks data that a synchronised server has.
    #[error("{0}")]
    OutOfSync(String),
    /// The response contradicts the request, or what the server said before.
    #[error("{0}")]
    Inconsistent(String),
}

impl RpcError {
    /// Whether the server works, so that it may respond to another request, for instance a smaller one.
    pub fn is_error_response(&self) -> bool {
        matches!(self, Self::ErrorResponse { .. })
    }

    /// Whether the contract itself failed, or used up its gas: every other server would respond the same.
    pub fn is_revert(&self) -> bool {
        const REVERTED: i64 = 3;
        /// As geth, anvil and others say it.
        const FAILED: [&str; 3] = ["revert", "out of gas", "OutOfGas"];
        match self {
            Self::ErrorResponse { code, message } => {
                *code == REVERTED || FAILED.iter().any(|text| message.contains(text))
            }
            _ => false,
        }
    }
}

/// Why the chain cannot be read or used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    #[error("chain {chain}: {reason}")]
    Settings { chain: String, reason: String },
    /// No server responds; a later attempt may succeed.
    #[error("chain {chain}: {reason}")]
    Unavailable { chain: String, reason: String },
    /// The servers respond with an error.
    #[error("chain {chain}: {error}")]
    Rpc { chain: String, error: RpcError },
}

const TEXT_CHARS_MAX: usize = 200;

/// Text of a server, so that it fits into a line of the log.
pub(crate) fn sanitize_line(text: &str) -> String {
    plugin_api::host::sanitize_line(text, TEXT_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_used_up_its_gas_failed_by_itself() {
        let failed = |code, message: &str| RpcError::ErrorResponse { code, message: message.to_owned() }.is_revert();
        assert!(failed(-32000, "out of gas") && failed(-32603, "EVM error OutOfGas") && failed(3, "no"));
        assert!(failed(-32000, "execution reverted"));
        assert!(!failed(-32005, "limit exceeded") && !RpcError::Timeout(1).is_revert());
    }
}
