//! SQLite's errors in our words. The driver's full text goes to the log.

use crate::StorageError;
use rusqlite::{Error, ErrorCode, ffi};

pub fn explain(error: &Error) -> StorageError {
    let Some(failure) = error.sqlite_error() else {
        tracing::error!(error = %error, "the SQLite driver failed");
        return StorageError::Internal("the driver failed, see the log".into());
    };
    tracing::debug!(code = failure.extended_code, error = %error, "SQLite refused");
    let text = || message(error);
    match failure.code {
        _ if failure.extended_code == ffi::SQLITE_CONSTRAINT_DATATYPE => StorageError::statement(text()),
        ErrorCode::ConstraintViolation => StorageError::Constraint(text()),
        ErrorCode::OperationInterrupted => StorageError::Timeout("the statement was stopped".into()),
        ErrorCode::DiskFull => unavailable(error, "the disk or the quota is full"),
        ErrorCode::SystemIoFailure => unavailable(error, "the disk failed"),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
            StorageError::Unavailable("another process holds the lock".into())
        }
        ErrorCode::OutOfMemory => unavailable(error, "out of memory"),
        ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly => {
            unavailable(error, "the file cannot be opened or written")
        }
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            tracing::error!(error = %error, "the SQLite file is damaged");
            StorageError::Internal("the file is damaged, see the log".into())
        }
        ErrorCode::InternalMalfunction | ErrorCode::Unknown if failure.extended_code != ffi::SQLITE_ERROR => {
            tracing::error!(error = %error, "SQLite failed");
            StorageError::Internal("SQLite failed, see the log".into())
        }
        _ => StorageError::statement(text()),
    }
}

fn unavailable(error: &Error, reason: &str) -> StorageError {
    tracing::error!(error = %error, reason, "SQLite cannot work");
    StorageError::Unavailable(reason.into())
}

/// SQLite's text names tables and columns. It quotes values in two places: search expressions, and what stands in quotes.
fn message(error: &Error) -> String {
    const OF_SEARCHES: [&str; 3] = ["fts5:", "unterminated string", "unknown special query"];
    let text = match error {
        Error::SqliteFailure(_, Some(text)) => text.clone(),
        Error::SqlInputError { msg, .. } => return crate::error::one_line(msg),
        other => other.to_string(),
    };
    // Unknown columns of tables are found when a statement is prepared, those of a search when it runs.
    let is_search = OF_SEARCHES.iter().any(|start| text.starts_with(start)) || text.starts_with("no such column");
    if is_search {
        return "the search expression is not valid".into();
    }
    let quoted = text.find(['\'', '"']).unwrap_or(text.len());
    crate::error::one_line(&text[..quoted])
}
