//! Errors that pass: a reason to wait, and no failure of the job.

use plugin_api::{HostError, HostErrorCode};

/// A passing error as the reason to wait.
pub fn passing(result: Result<Option<String>, HostError>) -> Result<Option<String>, HostError> {
    match result {
        Err(error) if is_passing(&error) => Ok(Some(error.message.to_string())),
        other => other,
    }
}

/// What the next run may do, or another gateway has done.
pub fn is_passing(error: &HostError) -> bool {
    error.is_transient()
        || [HostErrorCode::Constraint, HostErrorCode::Unavailable, HostErrorCode::Disabled]
            .into_iter()
            .any(|code| error.is(code))
}
