//! How much one call of a plugin may give back, or keep. What is more is the plugin's fault, and names the bound.
//!
//! The rule: whatever crosses the border has a bound. Memory that a plugin allocates on its own side has none.

use gateway_activity::EVENT_DATA_BYTES_MAX;
use gateway_storage::bounds::{
    CALL_PARAM_BYTES_MAX, CALL_ROWS_BYTES_MAX, CALL_STATEMENTS_MAX, STATEMENT_PARAMS_MAX, STATEMENT_TEXT_BYTES_MAX,
};
use serde::{Deserialize, Serialize};

const MIB: usize = 1024 * 1024;

/// A body that is not streamed.
pub const RESPONSE_BODY_BYTES_MAX: usize = 16 * MIB;
pub const RESPONSE_HEADERS_MAX: usize = 100;
/// Names and values of all headers.
pub const RESPONSE_HEADER_BYTES_MAX: usize = 16 * 1024;
/// A streamed body as a whole has no bound: no more than a chunk of it is in memory.
pub const STREAM_CHUNK_BYTES_MAX: usize = 4 * MIB;
/// One plugin's part of an extension point, or its answer as a service.
pub const CONTRIBUTION_BYTES_MAX: usize = 4 * MIB;
/// The frames of one call of a topic.
pub(crate) const FRAMES_BYTES_MAX: usize = 4 * MIB;
pub(crate) const EVENTS_PER_TRANSACTION_MAX: usize = 1000;
/// Tasks that a plugin has in the background at a time; the gateway's own for its topics and its index count as well.
pub(crate) const BACKGROUND_TASKS_MAX: usize = 1000;
/// Further ones wait.
pub(crate) const BLOCKING_CALLS_MAX: usize = 16;
pub(crate) const MANIFEST_BYTES_MAX: usize = 4 * MIB;
/// Of a line that a plugin logs, and of the message of a fault; the rest is cut off.
pub(crate) const LOG_LINE_CHARS_MAX: usize = 4000;

/// All bounds, as reports show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    pub response_body_bytes: usize,
    pub response_headers: usize,
    pub response_header_bytes: usize,
    pub stream_chunk_bytes: usize,
    pub contribution_bytes: usize,
    pub frames_bytes: usize,
    pub event_data_bytes: usize,
    pub events_per_transaction: usize,
    pub statement_text_bytes: usize,
    pub statement_params: usize,
    pub call_statements: usize,
    pub call_param_bytes: usize,
    pub call_rows_bytes: usize,
    pub background_tasks: usize,
    pub blocking_calls: usize,
    pub manifest_bytes: usize,
    pub log_line_chars: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            response_body_bytes: RESPONSE_BODY_BYTES_MAX,
            response_headers: RESPONSE_HEADERS_MAX,
            response_header_bytes: RESPONSE_HEADER_BYTES_MAX,
            stream_chunk_bytes: STREAM_CHUNK_BYTES_MAX,
            contribution_bytes: CONTRIBUTION_BYTES_MAX,
            frames_bytes: FRAMES_BYTES_MAX,
            event_data_bytes: EVENT_DATA_BYTES_MAX,
            events_per_transaction: EVENTS_PER_TRANSACTION_MAX,
            statement_text_bytes: STATEMENT_TEXT_BYTES_MAX,
            statement_params: STATEMENT_PARAMS_MAX,
            call_statements: CALL_STATEMENTS_MAX,
            call_param_bytes: CALL_PARAM_BYTES_MAX,
            call_rows_bytes: CALL_ROWS_BYTES_MAX,
            background_tasks: BACKGROUND_TASKS_MAX,
            blocking_calls: BLOCKING_CALLS_MAX,
            manifest_bytes: MANIFEST_BYTES_MAX,
            log_line_chars: LOG_LINE_CHARS_MAX,
        }
    }
}

/// Why `what` is refused, if it is too large.
pub fn excess(what: &str, bytes: usize, bytes_max: usize) -> Option<String> {
    (bytes > bytes_max).then(|| format!("{what} has {bytes} bytes, at most {bytes_max}"))
}
