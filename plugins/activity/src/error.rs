//! Errors of the activity routes: texts, statuses and codes.

use crate::limits::STATUS_CHARS_MAX;
use plugin_api::ApiError;

#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum ActivityError {
    #[api(400, "bad_request", "actor: {0}", hint = "filter by an account's address, or leave actor out")]
    Actor(&'static str),
    #[api(
        400,
        "bad_request",
        "status: at most {STATUS_CHARS_MAX} characters",
        hint = "shorten the status and sign the new payload"
    )]
    Status,
}
