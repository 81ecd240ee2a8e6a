//! A statement that runs as part of a commit.

use plugin_api::abi::Statement;

/// One of the gateway's own statements at the end of a transaction.
#[derive(Clone, Debug)]
pub struct CommitStatement<S = Statement> {
    pub statement: S,
    pub refusal: CommitRefusal,
}

/// When a statement refuses the transaction: it is rolled back, and `commit` fails with [`crate::StorageError::Rejected`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitRefusal {
    Never,
    /// When it returns no row.
    WithoutRow,
    /// When it divides by zero. Only PostgreSQL takes that for an error; there it costs less than a row that is not there.
    ByDivision,
}

impl CommitStatement {
    pub fn new(statement: Statement) -> Self {
        Self { statement, refusal: CommitRefusal::Never }
    }

    pub fn expecting_row(statement: Statement) -> Self {
        Self { statement, refusal: CommitRefusal::WithoutRow }
    }

    pub fn dividing(statement: Statement) -> Self {
        Self { statement, refusal: CommitRefusal::ByDivision }
    }
}
