//! A call of a transaction that the writer thread executes, and the reply that its caller waits for.

use super::interrupter::CancelFlag;
use crate::{check::CheckedStatement, commit_statement::CommitStatement, error::StorageError};
use gateway_telemetry::LogContext;
use plugin_api::abi::StatementResult;
use tokio::sync::oneshot;

pub(crate) type CallResult = Result<Vec<StatementResult>, StorageError>;

pub(crate) enum TransactionCall {
    Run(Vec<CheckedStatement>),
    Commit(Vec<CommitStatement<CheckedStatement>>),
}

/// How the result reaches the caller, and whether the caller still waits for it.
pub(crate) struct PendingReply {
    pub reply: oneshot::Sender<CallResult>,
    pub cancelled: CancelFlag,
    /// What the caller works on, for the log.
    pub log_context: Option<LogContext>,
}
