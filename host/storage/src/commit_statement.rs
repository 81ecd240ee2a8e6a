//! A statement that runs as part of a commit.

use plugin_api::abi::Statement;

/// One of the gateway's own statements at the end of a transaction.
#[derive(Clone, Debug)]
pub struct CommitStatement<S = Statement> {
    pub statement: S,
    /// If the statement returns no row, the transaction is rolled back and `commit` fails with
    /// [`crate::StorageError::Rejected`].
    pub must_return_row: bool,
}

impl CommitStatement {
    pub fn new(statement: Statement) -> Self {
        Self { statement, must_return_row: false }
    }

    pub fn expecting_row(statement: Statement) -> Self {
        Self { statement, must_return_row: true }
    }
}
