//! Errors of the memory's routes: texts, statuses and codes. Rule: no text names a key or a value.

use crate::limits::{KEY_CHARS_MAX, URI_BYTES_MAX, VALUE_BYTES_MAX};
use plugin_api::{AgentId, ApiError, ErrorSpec};

const NOT_FOUND: ErrorSpec =
    ErrorSpec::new(404, "not_found", "GET /api/memory lists your keys, GET /api/agents the agents");
const NOTHING_PAID: ErrorSpec =
    ErrorSpec::new(507, "store_full", "nothing was stored or paid: delete keys, or ask the operator for more room");

#[derive(Debug, PartialEq, Eq, ApiError)]
#[api(400, "bad_request", hint = "correct the named member and sign the new payload")]
pub enum MemoryError {
    #[api("key: 1 to {KEY_CHARS_MAX} of A-Z, a-z, 0-9 and ._:- are needed, the first one a letter or a digit")]
    Key,
    #[api(
        409,
        "reserved_key",
        "this key is the path of another route",
        hint = "take another key than anchors and proof"
    )]
    ReservedKey,
    #[api(
        413,
        "too_large",
        "value: {bytes} bytes are more than {VALUE_BYTES_MAX}",
        hint = "divide it among several keys"
    )]
    LargeValue { bytes: i64 },
    #[api(NOT_FOUND, "you have no value under this key")]
    UnknownKey,
    #[api(
        409,
        "too_many_keys",
        "you have {0} keys, and no address may have more",
        hint = "delete keys that you do not need"
    )]
    TooManyKeys(i64),
    #[api(
        429,
        "daily_bytes",
        "your network has stored the {limit} new bytes that it may store today",
        hint = "try again after midnight UTC"
    )]
    DailyBytes { limit: i64 },
    #[api(NOTHING_PAID, "the memory holds the {limit} bytes that it may hold")]
    Full { limit: i64 },
    #[api(NOT_FOUND, "unknown agent {0}")]
    UnknownAgent(AgentId),
    #[api(NOT_FOUND, "you own no agent")]
    NoAgent,
    #[api(403, "not_owner", "agent {0} belongs to somebody else", hint = "sign with the wallet that owns the agent")]
    NotOwner(AgentId),
    #[api("uri: {bytes} bytes are more than {URI_BYTES_MAX}")]
    LongUri { bytes: usize },
    #[api("{member}: 0x and 64 hex digits are needed")]
    Hash { member: &'static str },
    #[api(NOT_FOUND, "the agent has no such batch")]
    UnknownBatch,
    #[api(409, "nothing_to_anchor", "all records are in batches that are anchored", hint = "write to the memory first")]
    NothingToAnchor,
    #[api("{filter}: {reason}")]
    Filter { filter: &'static str, reason: &'static str },
    #[api(NOT_FOUND, "the log has no record {0}")]
    UnknownRecord(i64),
}
