//! PostgreSQL's errors as storage errors.
//!
//! The rule: the driver's full text, which may contain values, goes to the log only.

use crate::error::{StorageError, error_line};
use sqlx::{Error, postgres::PgDatabaseError};

/// True while the server is there; [`super::reachability`] reports one that is not.
pub const POOL_TIMED_OUT: &str = "all connections have been in use";

/// Why a statement failed, and whether its connection can be used again.
pub struct ExecuteError {
    pub error: StorageError,
    pub is_connection_usable: bool,
    /// The table changed after the statement was prepared: it works on a new connection.
    pub is_plan_stale: bool,
}

impl From<StorageError> for ExecuteError {
    /// This crate stopped in the middle of a result: the connection still has to receive the rest of it.
    fn from(error: StorageError) -> Self {
        Self { error, is_connection_usable: false, is_plan_stale: false }
    }
}

impl From<Error> for ExecuteError {
    fn from(error: Error) -> Self {
        let refusal = error.as_database_error().and_then(|error| error.try_downcast_ref::<PgDatabaseError>());
        let Some(refusal) = refusal else {
            return connection_error(&error).into();
        };
        tracing::debug!(code = refusal.code(), error = %error, "PostgreSQL refused");
        let is_plan_stale = refusal.code() == "0A000" && refusal.message().contains("cached plan");
        Self {
            error: if is_plan_stale {
                StorageError::Busy("a table was changed just now".into())
            } else {
                refusal_error(refusal)
            },
            is_connection_usable: !is_plan_stale && !ends_connection(refusal.code()),
            is_plan_stale,
        }
    }
}

pub fn storage_error(error: Error) -> StorageError {
    ExecuteError::from(error).error
}

/// The pool waits for a connection; while the server is away, [`super::reachability`] ends that.
fn connection_error(error: &Error) -> StorageError {
    tracing::warn!(error = %error, "no connection to PostgreSQL");
    StorageError::Unavailable(match error {
        Error::PoolTimedOut => return StorageError::Busy(POOL_TIMED_OUT.into()),
        Error::PoolClosed => "the database is closed".into(),
        Error::Io(error) => format!("no connection to the server: {}", error.kind()),
        _ => "the connection failed".into(),
    })
}

/// Why a server that cannot be connected to is away. `None` when it is there and refuses this client, for example because
/// it has no connection left: connections that are open still work.
pub fn away_reason(error: &Error) -> Option<String> {
    match error.as_database_error().and_then(|error| error.try_downcast_ref::<PgDatabaseError>()) {
        Some(refusal) if refusal.code().starts_with("57P") => Some(unavailable_reason(refusal.code()).to_owned()),
        Some(_) => None,
        None => match error {
            Error::Io(error) => Some(format!("no connection to the server: {}", error.kind())),
            _ => Some("the connection to the server failed".to_owned()),
        },
    }
}

fn ends_connection(code: &str) -> bool {
    code.starts_with("57P") || code.starts_with("08") || code == "25P03"
}

fn refusal_error(refusal: &PgDatabaseError) -> StorageError {
    let code = refusal.code();
    match (code.get(..2).unwrap_or(code), code) {
        ("23", _) => StorageError::Constraint(error_line(refusal.message())),
        (_, "57014") => StorageError::Timeout("the statement was stopped".into()),
        (_, "40001" | "40P01") => StorageError::Conflict("it collided with another transaction".into()),
        (_, "55P03") => StorageError::Busy("another transaction held a lock for too long".into()),
        (_, "25P03") => StorageError::closed("it kept the database waiting for too long"),
        (_, "25P02") => StorageError::closed("a statement failed"),
        ("08" | "53" | "57" | "58", _) | (_, "25006") => unavailable(refusal),
        // These texts contain the value that did not fit.
        ("22", _) => StorageError::Statement(format!("a value does not fit its type (code {code})")),
        ("XX" | "F0", _) => {
            tracing::error!(code, error = %refusal, "PostgreSQL failed");
            StorageError::Internal("PostgreSQL failed, see the log".into())
        }
        _ => StorageError::statement(refusal.message()),
    }
}

fn unavailable(refusal: &PgDatabaseError) -> StorageError {
    tracing::error!(code = refusal.code(), error = %refusal, "PostgreSQL cannot work");
    StorageError::Unavailable(unavailable_reason(refusal.code()).into())
}

/// The reason in words, by the code of the server (appendix A of its manual).
fn unavailable_reason(code: &str) -> &'static str {
    match code {
        "53100" => "the disk of the server is full",
        "53200" => "the server is out of memory",
        "53300" => "the server has no connection left",
        "57P01" | "57P02" | "57P03" => "the server is starting or stopping",
        "25006" => "the server takes no writes: it is a standby, or read-only",
        _ if code.starts_with("58") => "the disk of the server failed",
        _ => "the server cannot work at the moment",
    }
}
