//! Errors of the store's routes: texts, statuses and codes.

use crate::model::{PayloadHash, SIZE_MAX};
use plugin_api::{ApiError, ErrorSpec};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadsError {
    #[error("the body is empty: a payload has 1 to {SIZE_MAX} bytes")]
    Empty,
    #[error("unknown payload {hash}")]
    Unknown { hash: PayloadHash },
    #[error("your address has stored {limit} bytes today, or nearly: these do not fit any more")]
    DailyBytes { limit: i64 },
    #[error("the store is full: it holds {limit} bytes, or nearly")]
    Full { limit: i64 },
}

const EMPTY: ErrorSpec = ErrorSpec::new(400, "bad_request", "send the bytes themselves as the body");
const UNKNOWN: ErrorSpec = ErrorSpec::new(404, "not_found", "POST /api/payloads stores bytes and answers their hash");
const DAILY_BYTES: ErrorSpec =
    ErrorSpec::new(429, "daily_bytes", "come back after midnight UTC; bytes that are stored already cost nothing");
const FULL: ErrorSpec = ErrorSpec::new(
    507,
    "store_full",
    "try again in some days, when old payloads are gone, or publish under an https address of your own",
);

impl ApiError for PayloadsError {
    const SPECS: &'static [ErrorSpec] = &[EMPTY, UNKNOWN, DAILY_BYTES, FULL];

    fn spec(&self) -> ErrorSpec {
        match self {
            Self::Empty => EMPTY,
            Self::Unknown { .. } => UNKNOWN,
            Self::DailyBytes { .. } => DAILY_BYTES,
            Self::Full { .. } => FULL,
        }
    }
}
