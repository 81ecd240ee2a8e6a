//! Errors of the store's routes: texts, statuses and codes.

use crate::model::SIZE_MAX;
use plugin_api::{ApiError, Hash256};

#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum PayloadsError {
    #[api(
        400,
        "bad_request",
        "the body is empty: a payload has 1 to {SIZE_MAX} bytes",
        hint = "send the bytes themselves as the body"
    )]
    Empty,
    #[api(404, "not_found", "unknown payload {hash}", hint = "POST /api/payloads stores bytes and answers their hash")]
    Unknown { hash: Hash256 },
    #[api(
        429,
        "daily_bytes",
        "your address has stored {limit} bytes today, or nearly: these do not fit any more",
        hint = "come back after midnight UTC; bytes that are stored already cost nothing"
    )]
    DailyBytes { limit: i64 },
    #[api(
        507,
        "store_full",
        "the store is full: it holds {limit} bytes, or nearly",
        hint = "try again in some days, when old payloads are gone, or publish under an https address of your own"
    )]
    Full { limit: i64 },
}
