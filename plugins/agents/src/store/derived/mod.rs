//! Derived tables. Only handlers of chain events write them.

pub mod agents;
pub mod feedback;
pub mod jobs;
pub mod records;
pub mod totals;
pub mod validations;

use plugin_api::{HostError, HostErrorCode, Sql, Tx, handles::StatementResult};

/// Runs statements in one call of the database; returns the result of each.
async fn batch<const N: usize>(tx: &Tx, statements: [Sql; N]) -> Result<[StatementResult; N], HostError> {
    let missing = |_| HostError::new(HostErrorCode::Internal, "the gateway answered another number of statements");
    tx.batch(statements.into()).await?.try_into().map_err(missing)
}
