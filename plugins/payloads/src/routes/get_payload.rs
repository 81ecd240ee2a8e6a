//! `GET /api/payloads/{hash}`: the bytes that have this hash.

use crate::{
    Payloads,
    error::PayloadsError,
    model::{PayloadHash, served_as},
    store::payloads,
};
use plugin_api::{Context, Failure, FfiBytes, JsonSchema, Path, Raw, Route, WithHeader};
use schemars::{Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

pub fn route() -> Route<Payloads> {
    Route::get("/api/payloads/{hash}", get_payload)
        .public()
        .cached()
        .summary("Read bytes by their hash")
        .description(
            "The content type is the one they were stored with, where a browser cannot be harmed by it: what is active \
             (HTML, XML, SVG, scripts) comes as plain text, what is unknown as bytes.",
        )
        .answers::<AnyBytes>(200, "*/*", "The bytes")
}

/// A body that may be anything.
struct AnyBytes;

impl JsonSchema for AnyBytes {
    fn schema_name() -> Cow<'static, str> {
        "AnyBytes".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "Exactly the bytes that were stored" })
    }
}

/// Whatever the bytes are, a browser that opens them runs nothing and loads nothing.
const POLICY: &str = "default-src 'none'; sandbox";

async fn get_payload(
    cx: Context<Payloads>,
    Path(hash): Path<PayloadHash>,
) -> Result<WithHeader<Raw>, Failure<PayloadsError>> {
    let unknown = || PayloadsError::Unknown { hash };
    let (named, bytes) = payloads::read(&cx.db(), hash.0).await?.ok_or_else(unknown)?;
    let answer = Raw { status: 200, content_type: served_as(&named), body: FfiBytes::from_owner(bytes) };
    Ok(WithHeader { answer, name: "content-security-policy".into(), value: POLICY.into() })
}
