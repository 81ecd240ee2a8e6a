//! Errors of the registry's routes: texts, statuses and codes.

use crate::{
    limits::{DESCRIPTION_CHARS_MAX, SCHEMA_BYTES_MAX},
    model::ToolId,
};
use plugin_api::{ApiError, ErrorSpec, response::ForwardError};

const NOT_FOUND: ErrorSpec =
    ErrorSpec::new(404, "not_found", "GET /api/tools lists the tools there are, GET /api/compute those for rent");

#[derive(Debug, PartialEq, Eq, ApiError)]
#[api(400, "bad_request", hint = "correct the named member and send it again, a payload newly signed")]
pub enum ToolsError {
    #[api("name: 1 to 64 of the characters a-z, A-Z, 0-9, ., _ and - are needed, the first a letter or digit")]
    Name,
    #[api("url: it is needed")]
    NoUrl,
    #[api("{member}: {message}")]
    BadUrl { member: &'static str, message: String },
    #[api(400, "private_url", "{member}: {message}", hint = "name a host that everybody can reach")]
    PrivateUrl { member: &'static str, message: String },
    #[api("description: at most {DESCRIPTION_CHARS_MAX} characters")]
    Description,
    #[api(
        413,
        "too_large",
        "schema: {bytes} bytes are more than {SCHEMA_BYTES_MAX}",
        hint = "shorten the schema, or serve it under the tool's own address"
    )]
    SchemaTooLarge { bytes: usize },
    #[api("gpu: 1 to 64 characters are needed")]
    Gpu,
    #[api("vramGb: a number from 0 to 100000 is needed")]
    Vram,
    #[api("pricePerSecond: an amount in wei is needed")]
    Price,
    #[api("region: at most 64 characters")]
    Region,
    #[api("kind: it is mcp, http, a2a or compute")]
    Kind,
    #[api("owner: {0}")]
    Owner(&'static str),
    #[api("minVramGb: a number is needed")]
    VramMin,
    #[api("maxPricePerSecond: {0}")]
    PriceMax(&'static str),
    #[api(NOT_FOUND, "unknown tool {tool}")]
    UnknownTool { tool: ToolId },
    #[api(NOT_FOUND, "no compute is listed as {tool}")]
    UnknownCompute { tool: ToolId },
}

/// Errors of calls of compute: another type, because each route documents all codes of its error type.
#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum InvokeError {
    #[api(NOT_FOUND, "no compute is listed as {tool}")]
    UnknownCompute { tool: ToolId },
    #[api(400, "bad_request", "seconds: 1 to 3600 are needed", hint = "add ?seconds=60 for a minute")]
    Seconds,
    #[api(
        503,
        "price_changed",
        "the listing got a price while this request came in",
        hint = "repeat it: the answer says what it costs"
    )]
    PriceChanged,
    #[api(transparent)]
    Forward(#[from] ForwardError),
}
