//! Errors of the activity routes: texts, statuses and codes.

use crate::model::STATUS_CHARS_MAX;
use plugin_api::ApiError;

#[derive(Debug, PartialEq, Eq, thiserror::Error, ApiError)]
pub enum ActivityError {
    #[error("actor: {0}")]
    #[api(400, "bad_request", hint = "filter by an account's address, or leave actor out")]
    Actor(&'static str),
    #[error("status: at most {STATUS_CHARS_MAX} characters")]
    #[api(400, "bad_request", hint = "shorten the status and sign the new payload")]
    Status,
}
