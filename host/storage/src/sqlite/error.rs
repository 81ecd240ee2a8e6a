//! SQLite's errors as storage errors.
//!
//! The rule: the driver's full text, which may contain values, goes to the log only.

use crate::error::{StorageError, error_line};
use rusqlite::{Error, ErrorCode, ffi};

/// SQLite's own error, also that of a text that it does not understand.
pub(crate) fn sqlite_failure(error: &Error) -> Option<&ffi::Error> {
    match error {
        Error::SqlInputError { error, .. } => Some(error),
        other => other.sqlite_error(),
    }
}

pub(crate) fn storage_error(error: &Error) -> StorageError {
    let Some(failure) = sqlite_failure(error) else {
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
            StorageError::Busy("another process holds the lock".into())
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

/// SQLite's text contains names of tables and columns. Values occur in two places: in search expressions, and in
/// quotes.
fn message(error: &Error) -> String {
    const SEARCH_ERRORS: [&str; 3] = ["fts5:", "unterminated string", "unknown special query"];
    let text = match error {
        Error::SqliteFailure(_, Some(text)) => text.clone(),
        Error::SqlInputError { msg, .. } => return error_line(msg),
        other => other.to_string(),
    };
    // Unknown columns of tables fail when a statement is prepared, those of a search when it runs.
    let is_search = SEARCH_ERRORS.iter().any(|start| text.starts_with(start)) || text.starts_with("no such column");
    if is_search {
        return "the search expression is not valid".into();
    }
    let quoted = text.find(['\'', '"']).unwrap_or(text.len());
    error_line(&text[..quoted])
}

/// For callers that wait when the database threads end, or come after them.
pub(crate) fn database_closed() -> StorageError {
    StorageError::Unavailable("the database is closed".into())
}

/// For transactions whose finished work was rolled back with their group.
pub(crate) fn group_failed() -> StorageError {
    StorageError::Unavailable("the commit failed and nothing was written".into())
}
