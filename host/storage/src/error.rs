//! The errors of the database. The text of an error is one line for the caller and contains no values. The code that
//! catches a driver's error logs its full text.

use plugin_api::{
    abi::{HostError, HostErrorCode},
    host::sanitize_line,
};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    /// The database could not be used; the same call may work later. Nothing was written, except perhaps by a commit: see
    /// [`crate::Transaction::has_unknown_outcome`].
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// It cannot be opened with these settings, now or later.
    #[error("the database is not available: {0}")]
    Settings(String),
    /// A call waited too long for the database, which works. Nothing was written; the same call may work later.
    #[error("the database is busy: {0}")]
    Busy(String),
    /// The statement, or its transaction, was stopped at its time limit: the database itself works.
    #[error("the database took too long: {0}")]
    Timeout(String),
    /// As [`Self::Timeout`], of one statement that ran for longer than this; the log has its text.
    #[error("the database took too long: a statement ran for more than {0:?}")]
    SlowStatement(Duration),
    /// The database rolled the transaction back because of another one at the same time. The same statements may work in a new
    /// transaction.
    #[error("{0}")]
    Conflict(String),
    /// The statement is not allowed or not valid: a bug of the code that wrote it.
    #[error("{0}")]
    Statement(String),
    #[error("{0}")]
    Constraint(String),
    /// The transaction was committed, or rolled back after a failed statement.
    #[error("the transaction is over: {0}")]
    Closed(String),
    /// The transaction was rolled back at one of its time limits: nothing was written, and the same call may work later.
    #[error("the transaction is over: {0}")]
    Expired(&'static str),
    /// The commit statement with that index returned no row although it had to.
    #[error("statement {0} of the commit gave no row")]
    Rejected(usize),
    /// A plugin's migrations cannot be applied; the text is for the operator.
    #[error("{0}")]
    Migration(String),
    #[error("the database failed: {0}")]
    Internal(String),
}

/// Why a transaction was rolled back: its code did something else for too long between two statements.
pub(crate) const IDLE_TOO_LONG: &str = "it kept the database waiting for too long";
/// The same, between its begin and its end.
pub(crate) const OPEN_TOO_LONG: &str = "it took too long";

/// Longest error text.
const MESSAGE_CHARS_MAX: usize = 300;

impl StorageError {
    /// The error of a call of a transaction that has ended for this reason.
    pub(crate) fn ended(reason: &'static str) -> Self {
        if [IDLE_TOO_LONG, OPEN_TOO_LONG].contains(&reason) {
            Self::Expired(reason)
        } else {
            Self::Closed(reason.to_owned())
        }
    }

    pub(crate) fn statement(reason: impl AsRef<str>) -> Self {
        Self::Statement(error_line(reason.as_ref()))
    }

    /// The statement waited for longer than this limit for `what`, which others had.
    pub(crate) fn waited(what: &str, limit: Duration) -> Self {
        Self::Busy(format!("{what} for more than {limit:?}"))
    }

    /// For `error.type` of a span: no text, which could be longer than a word.
    pub(crate) const fn label(&self) -> &'static str {
        match self {
            Self::Unavailable(_) => "unavailable",
            Self::Settings(_) => "settings",
            Self::Busy(_) => "busy",
            Self::Timeout(_) | Self::SlowStatement(_) | Self::Expired(_) => "timeout",
            Self::Conflict(_) => "conflict",
            Self::Statement(_) => "statement",
            Self::Constraint(_) => "constraint",
            Self::Closed(_) => "closed",
            Self::Rejected(_) => "rejected",
            Self::Migration(_) | Self::Internal(_) => "internal",
        }
    }

    fn code(&self) -> HostErrorCode {
        match self {
            Self::Unavailable(_) | Self::Settings(_) => HostErrorCode::Unavailable,
            Self::Busy(_) => HostErrorCode::Busy,
            Self::Timeout(_) | Self::SlowStatement(_) | Self::Expired(_) => HostErrorCode::Timeout,
            Self::Conflict(_) => HostErrorCode::Conflict,
            Self::Statement(_) => HostErrorCode::Statement,
            Self::Constraint(_) => HostErrorCode::Constraint,
            Self::Closed(_) | Self::Rejected(_) => HostErrorCode::Closed,
            Self::Migration(_) | Self::Internal(_) => HostErrorCode::Internal,
        }
    }
}

impl From<StorageError> for HostError {
    fn from(error: StorageError) -> Self {
        HostError::new(error.code(), error.to_string())
    }
}

/// The text of an error on one line, short enough for a log line and a response.
pub(crate) fn error_line(text: &str) -> String {
    sanitize_line(text, MESSAGE_CHARS_MAX)
}
