//! PostgreSQL's errors as storage errors.
//!
//! The rule: the server's full text, which may contain values, goes to the log only.

use crate::error::{IDLE_TOO_LONG, StorageError, error_line};
use sqlx::postgres::PgDatabaseError;
use std::{error::Error as _, io};
use tokio_postgres::{Error, error::DbError};

/// True while the server is there; [`super::reachability`] reports one that is not.
pub(crate) const POOL_TIMED_OUT: &str = "all connections have been in use";

pub(crate) const NO_ANSWER: &str = "the server does not answer";

const DIVISION_BY_ZERO: &str = "22012";
const TOO_MANY_CONNECTIONS: &str = "53300";

/// The limit of a wait for the server has passed.
pub(crate) fn no_answer() -> StorageError {
    StorageError::Unavailable(NO_ANSWER.into())
}

/// Why a statement failed, and whether its connection can be used again.
pub(crate) struct ExecuteError {
    pub error: StorageError,
    pub is_connection_usable: bool,
    /// The table changed after the statement was prepared: it works when it is prepared again.
    pub is_plan_stale: bool,
    pub is_division_by_zero: bool,
    /// The server lacks the feature, or lacks it while it is a read replica.
    pub is_unsupported: bool,
}

impl From<StorageError> for ExecuteError {
    /// This crate stopped in the middle of a result: the connection still has to receive the rest of it.
    fn from(error: StorageError) -> Self {
        Self {
            error,
            is_connection_usable: false,
            is_plan_stale: false,
            is_division_by_zero: false,
            is_unsupported: false,
        }
    }
}

impl From<Error> for ExecuteError {
    fn from(error: Error) -> Self {
        let Some(refusal) = error.as_db_error() else {
            return connection_error(&error).into();
        };
        let code = refusal.code().code();
        tracing::debug!(code, error = %refusal, "PostgreSQL refused");
        let is_unsupported = code == "0A000";
        let is_plan_stale = is_unsupported && refusal.message().contains("cached plan");
        Self {
            error: if is_plan_stale {
                StorageError::Busy("a table was changed just now".into())
            } else {
                refusal_error(&Refusal::from(refusal))
            },
            is_connection_usable: !is_plan_stale && !ends_connection(code),
            is_plan_stale,
            is_division_by_zero: code == DIVISION_BY_ZERO,
            is_unsupported,
        }
    }
}

/// The error of a connection attempt, or of work that is not a checked statement.
pub(crate) fn driver_error(error: Error) -> StorageError {
    ExecuteError::from(error).error
}

/// The error of sqlx, which migrations and tools use.
pub(crate) fn storage_error(error: sqlx::Error) -> StorageError {
    match error.as_database_error().and_then(|error| error.try_downcast_ref::<PgDatabaseError>()) {
        Some(refusal) => {
            tracing::debug!(code = refusal.code(), error = %refusal, "PostgreSQL refused");
            refusal_error(&Refusal { code: refusal.code(), message: refusal.message(), full: refusal })
        }
        None => {
            tracing::warn!(%error, "no connection to PostgreSQL");
            let reason = match &error {
                sqlx::Error::Io(error) => unreachable_reason(error),
                _ => "the connection failed".to_owned(),
            };
            StorageError::Unavailable(reason)
        }
    }
}

fn connection_error(error: &Error) -> StorageError {
    tracing::warn!(error = error as &dyn std::error::Error, "no connection to PostgreSQL");
    StorageError::Unavailable(lost_reason(error))
}

fn lost_reason(error: &Error) -> String {
    match error.source().and_then(|source| source.downcast_ref::<io::Error>()) {
        Some(error) => unreachable_reason(error),
        None if error.is_closed() => "no connection to the server: it was closed".to_owned(),
        None => "the connection to the server failed".to_owned(),
    }
}

fn unreachable_reason(error: &io::Error) -> String {
    format!("no connection to the server: {}", error.kind())
}

/// Why a server that cannot be connected to is away. `None` when it is there and refuses this client, for example because
/// it has no connection left: connections that are open still work.
pub(crate) fn away_reason(error: &Error) -> Option<String> {
    match error.code().map(|code| code.code()) {
        Some(code) if code.starts_with("57P") => Some(unavailable_reason(code).to_owned()),
        Some(_) => None,
        None => Some(lost_reason(error)),
    }
}

/// Whether another client may leave its connection to us in a moment.
pub(crate) fn is_out_of_connections(error: &Error) -> bool {
    error.code().is_some_and(|code| code.code() == TOO_MANY_CONNECTIONS)
}

/// Whether the server, or a pooler before it, refused a session because of what it was asked to begin with.
pub(crate) fn refuses_startup(error: &Error) -> bool {
    // protocol violation (PgBouncer), no such parameter, no such value, no permission for it, not supported
    const CODES: [&str; 5] = ["08P01", "42704", "22023", "42501", "0A000"];
    error.code().is_some_and(|code| CODES.contains(&code.code()))
}

/// The error of a transaction that a read replica, or a server that takes no writes, did not begin.
pub(crate) fn read_only_error() -> StorageError {
    StorageError::Unavailable(unavailable_reason("25006").into())
}

fn ends_connection(code: &str) -> bool {
    code.starts_with("57P") || code.starts_with("08") || code == "25P03"
}

struct Refusal<'a> {
    code: &'a str,
    message: &'a str,
    /// For the log.
    full: &'a dyn std::fmt::Display,
}

impl<'a> From<&'a DbError> for Refusal<'a> {
    fn from(error: &'a DbError) -> Self {
        Self { code: error.code().code(), message: error.message(), full: error }
    }
}

fn refusal_error(refusal: &Refusal<'_>) -> StorageError {
    let code = refusal.code;
    match (code.get(..2).unwrap_or(code), code) {
        ("23", _) => StorageError::Constraint(error_line(refusal.message)),
        (_, "57014") => StorageError::Timeout("the statement was stopped".into()),
        (_, "40001" | "40P01") => StorageError::Conflict("it conflicted with another transaction".into()),
        (_, "55P03") => StorageError::Busy("another transaction held a lock for too long".into()),
        (_, "25P03") => StorageError::Expired(IDLE_TOO_LONG),
        (_, "25P02") => StorageError::ended("a statement failed"),
        ("08" | "53" | "57" | "58", _) | (_, "25006") => unavailable(refusal),
        // These texts contain the value that did not fit.
        ("22", _) => StorageError::Statement(format!("a value does not fit its type (code {code})")),
        ("XX" | "F0", _) => {
            tracing::error!(code, error = %refusal.full, "PostgreSQL failed");
            StorageError::Internal("PostgreSQL failed, see the log".into())
        }
        _ => StorageError::statement(refusal.message),
    }
}

fn unavailable(refusal: &Refusal<'_>) -> StorageError {
    tracing::error!(code = refusal.code, error = %refusal.full, "PostgreSQL cannot work");
    StorageError::Unavailable(unavailable_reason(refusal.code).into())
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
