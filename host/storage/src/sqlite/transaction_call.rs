//! A call of a transaction that the writer thread executes, and the way back to its caller.

use super::interrupter::CancelFlag;
use crate::{check::CheckedStatement, commit_statement::CommitStatement, error::StorageError};
use plugin_api::abi::StatementResult;
use tokio::sync::oneshot;

pub type CallResult = Result<Vec<StatementResult>, StorageError>;

pub enum TransactionCall {
    Run(Vec<CheckedStatement>),
    Commit(Vec<CommitStatement<CheckedStatement>>),
}

/// The caller that waits for the result.
pub struct Caller {
    pub reply: oneshot::Sender<CallResult>,
    pub cancelled: CancelFlag,
}
