//! `GET /api/payloads/{hash}`: the bytes that have this hash.

use crate::{
    Payloads,
    error::PayloadsError,
    model::{PayloadHash, served_as},
    store::payloads,
};
use plugin_api::{Context, Failure, FfiBytes, Path, Raw, Route, WithHeader};

pub fn route() -> Route<Payloads> {
    Route::get("/api/payloads/{hash}", get_payload)
        .public()
        .cached()
        .summary("Read bytes by their hash")
        .description(
            "The content type is the one they were stored with, where a browser cannot be harmed by it: what is active \
             (HTML, XML, SVG, scripts) comes as plain text, what is unknown as bytes.",
        )
        .answers::<serde_json::Value>(200, "*/*", "The bytes")
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
