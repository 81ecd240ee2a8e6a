//! PostgreSQL's errors in our words. The driver's full text goes to the log.

use crate::StorageError;
use crate::error::one_line;
use sqlx::{Error, postgres::PgDatabaseError};

/// A failure, and whether the connection may serve on.
pub struct Failure {
    pub error: StorageError,
    pub connection_is_usable: bool,
    /// The table changed under a cached statement: a fresh connection knows the new shape.
    pub is_stale: bool,
}

impl From<StorageError> for Failure {
    /// Our own refusal in the middle of a result: the rest of it is still on its way.
    fn from(error: StorageError) -> Self {
        Self { error, connection_is_usable: false, is_stale: false }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let refusal = error.as_database_error().and_then(|error| error.try_downcast_ref::<PgDatabaseError>());
        let Some(refusal) = refusal else {
            return StorageError::Unavailable(lost_connection(&error)).into();
        };
        tracing::debug!(code = refusal.code(), error = %error, "PostgreSQL refused");
        let is_stale = refusal.code() == "0A000" && refusal.message().contains("cached plan");
        Self {
            error: if is_stale {
                StorageError::Unavailable("a table was changed just now".into())
            } else {
                refused(refusal)
            },
            connection_is_usable: !is_stale && !ends_connection(refusal.code()),
            is_stale,
        }
    }
}

pub fn explain(error: Error) -> StorageError {
    Failure::from(error).error
}

fn lost_connection(error: &Error) -> String {
    tracing::warn!(error = %error, "no connection to PostgreSQL");
    match error {
        Error::PoolTimedOut => "all connections are in use".into(),
        Error::PoolClosed => "the database is closed".into(),
        _ => "the connection failed".into(),
    }
}

fn ends_connection(code: &str) -> bool {
    code.starts_with("57P") || code.starts_with("08") || code == "25P03"
}

fn refused(refusal: &PgDatabaseError) -> StorageError {
    let code = refusal.code();
    match (code.get(..2).unwrap_or(code), code) {
        ("23", _) => StorageError::Constraint(one_line(refusal.message())),
        (_, "57014") => StorageError::Timeout("the statement was stopped".into()),
        (_, "40001" | "40P01" | "55P03") => StorageError::Unavailable("it collided with another transaction".into()),
        (_, "25P03") => StorageError::closed("it kept the database waiting for too long"),
        (_, "25P02") => StorageError::closed("a statement failed"),
        ("08" | "53" | "57" | "58", _) | (_, "25006") => unavailable(refusal),
        // These texts quote the value that did not fit.
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
    StorageError::Unavailable("the server cannot work at the moment".into())
}
