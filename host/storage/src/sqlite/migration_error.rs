//! What SQLite says about a migration that failed, in its own words, for the operator and the migration's author.

use super::error::{sqlite_failure, storage_error};
use crate::{
    error::StorageError,
    migrations::{FailureWords, describe},
};
use rusqlite::Error;

/// `begin`: the byte of the migration's text where the statement begins.
pub(crate) fn migration_error(error: &Error, sql: &str, begin: usize) -> StorageError {
    let (message, position) = match error {
        // The offset counts in the rest of the text that SQLite was given.
        Error::SqlInputError { msg, sql: rest, offset, .. } => {
            let offset = usize::try_from(*offset).unwrap_or_default();
            (msg.clone(), (sql.len() - rest.len().min(sql.len())) + offset)
        }
        Error::SqliteFailure(_, Some(text)) => (text.clone(), begin),
        other => (other.to_string(), begin),
    };
    match storage_error(error) {
        StorageError::Statement(_) | StorageError::Constraint(_) => {
            let code = sqlite_failure(error).map(|failure| failure.extended_code.to_string());
            let words =
                FailureWords { message: &message, position: Some(position), details: &[], code: code.as_deref() };
            StorageError::Migration(describe(&words, sql))
        }
        other => other,
    }
}
