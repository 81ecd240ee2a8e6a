//! A statement that runs as part of a commit.

use plugin_api::abi::Statement;

/// One of the gateway's own statements at the end of a transaction.
#[derive(Clone, Debug)]
pub struct CommitStatement<S = Statement> {
    pub statement: S,
    pub refusal: Refusal,
}

/// When a statement refuses the transaction: it is rolled back, and `commit` fails with [`crate::StorageError::Rejected`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    Never,
    /// When it returns no row.
    WithoutRow,
    /// When it divides by zero. Only PostgreSQL takes that for an error; there it costs less than a row that is not there.
    ByDivision,
}

impl CommitStatement {
    pub fn new(statement: Statement) -> Self {
        Self { statement, refusal: Refusal::Never }
    }

    pub fn expecting_row(statement: Statement) -> Self {
        Self { statement, refusal: Refusal::WithoutRow }
    }

    pub fn dividing(statement: Statement) -> Self {
        Self { statement, refusal: Refusal::ByDivision }
    }
}
