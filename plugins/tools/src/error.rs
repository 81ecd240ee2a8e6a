//! Errors of the registry's routes: texts, statuses and codes.

use crate::model::{DESCRIPTION_CHARS_MAX, SCHEMA_BYTES_MAX, ToolId};
use plugin_api::{AddressParseError, ApiError, ErrorSpec, WeiParseError};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolsError {
    #[error("name: 1 to 64 of the characters a-z, A-Z, 0-9, ., _ and - are needed, the first a letter or digit")]
    Name,
    #[error("url: it is needed")]
    NoUrl,
    #[error("{member}: {message}")]
    BadUrl { member: &'static str, message: String },
    #[error("{member}: {message}")]
    PrivateUrl { member: &'static str, message: String },
    #[error("description: at most {DESCRIPTION_CHARS_MAX} characters")]
    Description,
    #[error("schema: it must be a JSON object")]
    Schema,
    #[error("schema: {bytes} bytes are more than {SCHEMA_BYTES_MAX}")]
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
    Owner(AddressParseError),
    #[error("minVramGb: a number is needed")]
    VramMin,
    #[error("maxPricePerSecond: {0}")]
    PriceMax(WeiParseError),
    #[error("unknown tool {tool}")]
    UnknownTool { tool: ToolId },
    #[error("no compute is listed as {tool}")]
    UnknownCompute { tool: ToolId },
}

const BAD_REQUEST: ErrorSpec =
    ErrorSpec::new(400, "bad_request", "correct the named member and send it again, a payload newly signed");
const PRIVATE_URL: ErrorSpec = ErrorSpec::new(400, "private_url", "name a host that everybody can reach");
const NOT_FOUND: ErrorSpec =
    ErrorSpec::new(404, "not_found", "GET /api/tools lists the tools there are, GET /api/compute those for rent");
const TOO_LARGE: ErrorSpec =
    ErrorSpec::new(413, "too_large", "shorten the schema, or serve it under the tool's own address");

impl ApiError for ToolsError {
    const SPECS: &'static [ErrorSpec] = &[BAD_REQUEST, PRIVATE_URL, NOT_FOUND, TOO_LARGE];

    fn spec(&self) -> ErrorSpec {
        match self {
            Self::PrivateUrl { .. } => PRIVATE_URL,
            Self::UnknownTool { .. } | Self::UnknownCompute { .. } => NOT_FOUND,
            Self::SchemaTooLarge { .. } => TOO_LARGE,
            _ => BAD_REQUEST,
        }
    }
}
