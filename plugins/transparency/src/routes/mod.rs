//! One file per route, named after its operation.

pub mod get_log_checkpoint;
pub mod get_log_entries;
pub mod get_log_tile;

use plugin_api::{JsonSchema, handles::FfiBytes, response::RawResponse};

/// What is behind a path of tiles never changes: a partial tile is the beginning of the full one.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// Hashes or entries
#[derive(JsonSchema)]
#[schemars(inline, transparent)]
#[expect(dead_code, reason = "describes a body of bytes")]
struct Bytes(String);

fn bytes(body: Vec<u8>) -> RawResponse {
    RawResponse { status: 200, content_type: "application/octet-stream".into(), body: FfiBytes::from(body) }
}
