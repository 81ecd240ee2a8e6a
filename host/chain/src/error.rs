//! What goes wrong with a chain. The rule: no text repeats the address of a server, which may hold a key.

/// Why one server did not answer a question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RpcFailure {
    #[error("no answer within {0} ms")]
    Timeout(u64),
    #[error("not reachable: {0}")]
    Unreachable(String),
    #[error("HTTP status {0}")]
    Status(u16),
    #[error("the answer is no JSON-RPC: {0}")]
    Garbage(String),
    #[error("the answer is of another type than was asked for: {0}")]
    WrongType(String),
    #[error("the answer has more than {0} bytes")]
    TooLarge(usize),
    /// An error object: the server works and does not want to.
    #[error("{message} (code {code})")]
    Refused {
        code: i64,
        message: String,
        /// What a reverted call returned, `0x…`.
        data: Option<String>,
    },
    /// It does not have what it must have, were it up to date.
    #[error("{0}")]
    Behind(String),
    /// It says what cannot be.
    #[error("{0}")]
    Lie(String),
}

impl RpcFailure {
    /// Whether another question may be answered, a smaller one for instance.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }

    /// The contract's own doing: another server would say the same.
    pub fn is_revert(&self) -> bool {
        const REVERTED: i64 = 3;
        match self {
            Self::Refused { code, message, .. } => *code == REVERTED || message.contains("revert"),
            _ => false,
        }
    }
}

/// Why the chain cannot be read or used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    #[error("chain {chain}: {reason}")]
    Settings { chain: String, reason: String },
    /// No server answers; trying again later may help.
    #[error("chain {chain}: {reason}")]
    Unavailable { chain: String, reason: String },
    /// The servers answer, with an error.
    #[error("chain {chain}: {failure}")]
    Failed { chain: String, failure: RpcFailure },
}
