//! Errors of the routes: texts, statuses and codes.

use plugin_api::ApiError;

#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum LogError {
    #[api(
        503,
        "disabled",
        "the log is stopped: {reason}",
        hint = "its operator has to restore the database or to begin a new origin; keep the checkpoint that you have",
        member("disabled" = disabled),
        member("reason" = reason)
    )]
    Stopped { disabled: bool, reason: String },
    #[api(404, "not_found", "the log has no checkpoint yet", hint = "repeat the request in ten seconds")]
    NoCheckpoint,
    #[api(
        404,
        "not_found",
        "the log has no such tile",
        hint = "GET /api/log/checkpoint says how large the log is; c2sp.org/tlog-tiles says which tiles it has then"
    )]
    NoTile,
}

impl LogError {
    pub fn stopped(reason: String) -> Self {
        Self::Stopped { disabled: true, reason }
    }
}
