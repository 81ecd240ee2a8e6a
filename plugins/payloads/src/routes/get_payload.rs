//! `GET /api/payloads/{hash}`: the bytes with this hash.

use crate::{Payloads, error::PayloadsError, model, store};
use plugin_api::{
    HandlerError, JsonSchema, Path, RequestContext, Route,
    handles::FfiBytes,
    response::{RawResponse, WithHeader},
};
use serde_json::Value;

pub fn route() -> Route<Payloads> {
    Route::get("/api/payloads/{hash}", get_payload)
        .public()
        .cached()
        .summary("Read bytes by their hash")
        .example("GET /api/payloads/0x…")
        .description(
            "The content type is the one they were stored with, where a browser cannot be harmed by it: what is active \
             (HTML, XML, SVG, scripts) comes as plain text, what is unknown as bytes.",
        )
        .response::<AnyBytes>(200, "*/*", "The bytes")
}

/// Exactly the bytes that were stored
#[derive(JsonSchema)]
#[schemars(inline, transparent)]
#[expect(dead_code, reason = "describes a body of any type")]
struct AnyBytes(Value);

/// A browser that opens the bytes executes and loads nothing.
const POLICY: &str = "default-src 'none'; sandbox";

async fn get_payload(
    cx: RequestContext<Payloads>,
    Path(model::PayloadHash(hash)): Path<model::PayloadHash>,
) -> Result<WithHeader<RawResponse>, HandlerError<PayloadsError>> {
    let (named, bytes) = store::payloads::read(&cx.db(), hash).await?.ok_or(PayloadsError::Unknown { hash })?;
    let response =
        RawResponse { status: 200, content_type: model::served_as(&named), body: FfiBytes::from_owner(bytes) };
    Ok(WithHeader { response, name: "content-security-policy".into(), value: POLICY.into() })
}
