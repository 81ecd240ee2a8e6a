//! Errors of the registry's routes: texts, statuses and codes.

use crate::model::{DESCRIPTION_CHARS_MAX, SCHEMA_BYTES_MAX, ToolId};
use plugin_api::{ApiError, ErrorSpec};

const NOT_FOUND: ErrorSpec =
    ErrorSpec::new(404, "not_found", "GET /api/tools lists the tools there are, GET /api/compute those for rent");

#[derive(Debug, PartialEq, Eq, thiserror::Error, ApiError)]
#[api(400, "bad_request", hint = "correct the named member and send it again, a payload newly signed")]
pub enum ToolsError {
    #[error("name: 1 to 64 of the characters a-z, A-Z, 0-9, ., _ and - are needed, the first a letter or digit")]
    Name,
    #[error("url: it is needed")]
    NoUrl,
    #[error("{member}: {message}")]
    BadUrl { member: &'static str, message: String },
    #[error("{member}: {message}")]
    #[api(400, "private_url", hint = "name a host that everybody can reach")]
    PrivateUrl { member: &'static str, message: String },
    #[error("description: at most {DESCRIPTION_CHARS_MAX} characters")]
    Description,
    #[error("schema: {bytes} bytes are more than {SCHEMA_BYTES_MAX}")]
    #[api(413, "too_large", hint = "shorten the schema, or serve it under the tool's own address")]
    SchemaTooLarge { bytes: usize },
    #[error("gpu: 1 to 64 characters are needed")]
    Gpu,
    #[error("vramGb: a number from 0 to 100000 is needed")]
    Vram,
    #[error("pricePerSecond: an amount in wei is needed")]
    Price,
    #[error("region: at most 64 characters")]
    Region,
    #[error("kind: it is mcp, http, a2a or compute")]
    Kind,
    #[error("owner: {0}")]
    Owner(&'static str),
    #[error("minVramGb: a number is needed")]
    VramMin,
    #[error("maxPricePerSecond: {0}")]
    PriceMax(&'static str),
    #[error("unknown tool {tool}")]
    #[api(NOT_FOUND)]
    UnknownTool { tool: ToolId },
    #[error("no compute is listed as {tool}")]
    #[api(NOT_FOUND)]
    UnknownCompute { tool: ToolId },
}
