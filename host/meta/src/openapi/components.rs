//! Components: the plugins' schemas, and the parts that operations share.

use super::{
    parameters,
    references::{ENVELOPE, ERROR, IF_NONE_MATCH},
    responses::GATEWAY_ERRORS,
};
use crate::{document_context::DocumentContext, signing};
use plugin_api::manifest::Auth;
use serde_json::{Map, Value, json};

const ADDRESS: &str = "^0x[0-9a-fA-F]{40}$";
const SIGNATURE: &str = "^0x[0-9a-fA-F]{130}$";
const SCHEMES: [&str; 3] = ["SignedAddress", "SignedTs", "SignedSig"];

pub(super) fn components(context: &DocumentContext<'_>) -> Value {
    let mut components = Map::from_iter([
        ("schemas".to_owned(), schemas(context)),
        ("responses".to_owned(), shared_responses()),
        ("parameters".to_owned(), shared_parameters()),
        ("headers".to_owned(), headers()),
    ]);
    if context.routes().any(|route| matches!(route.auth, Auth::SignedHeaders { .. })) {
        components.insert("securitySchemes".into(), security_schemes(context));
    }
    components.into()
}

/// The security requirement of an operation: all three headers, or none, because an envelope in the body or query is described
/// there.
pub(super) fn security(auth: &Auth) -> Value {
    match auth {
        Auth::SignedHeaders { .. } => json!([Map::from_iter(SCHEMES.map(|scheme| (scheme.to_owned(), json!([]))))]),
        _ => json!([]),
    }
}

fn schemas(context: &DocumentContext<'_>) -> Value {
    let declared = context.manifests().flat_map(|manifest| &manifest.schemas);
    let mut schemas: Map<String, Value> = declared.map(|(name, schema)| (name.clone(), schema.clone())).collect();
    schemas.insert(ERROR.into(), error());
    schemas.insert(ENVELOPE.into(), envelope());
    schemas.into()
}

fn error() -> Value {
    json!({
        "type": "object",
        "description": "Every failure has this body.",
        "required": ["error"],
        "properties": {
            "error": { "type": "string", "description": "For people" },
            "code": { "type": "string", "description": "For programs; stable" },
            "hint": { "type": "string", "description": "What to do next" },
        },
    })
}

fn envelope() -> Value {
    json!({
        "type": "object",
        "description": "Who signed, when, and the signature over the other members of the body",
        "required": ["address", "ts", "sig"],
        "properties": { "address": address(), "ts": timestamp(), "sig": signature() },
    })
}

fn address() -> Value {
    json!({ "type": "string", "pattern": ADDRESS, "examples": ["0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"] })
}

fn timestamp() -> Value {
    json!({
        "type": ["integer", "string"],
        "pattern": "^[0-9]+$",
        "description": "Unix seconds, as a number or as digits",
        "examples": [1_790_000_000],
    })
}

fn signature() -> Value {
    json!({
        "type": "string",
        "pattern": SIGNATURE,
        "description": "EIP-191 personal_sign, 65 bytes",
        "examples": [format!("0x{}", "0".repeat(130))],
    })
}

fn shared_parameters() -> Value {
    let parts =
        [("address", address(), "Who signed"), ("ts", timestamp(), "When"), ("sig", signature(), "The signature")];
    let parameters = parts.map(|(name, schema, description)| {
        (format!("Signed.{name}"), parameters::describe("query", name, description, true, schema))
    });
    let if_none_match = parameters::describe(
        "header",
        "If-None-Match",
        "Tags of answers that the client has; with one that still holds the gateway answers 304 without a body",
        false,
        json!({ "type": "string" }),
    );
    let conditional = [(IF_NONE_MATCH.to_owned(), if_none_match)];
    Map::from_iter(parameters.into_iter().chain(conditional)).into()
}

fn shared_responses() -> Value {
    GATEWAY_ERRORS.iter().map(|error| (error.component.to_owned(), error.response())).collect::<Map<_, _>>().into()
}

fn headers() -> Value {
    let text = |description: &str, example: &str| json!({ "description": description, "schema": { "type": "string" }, "example": example });
    json!({
        "X-Request-Id": text("Name of this request in the gateway's log; a client may choose it", "01940d3e-7c1a-7b3e-9c43-2f0a4d5e6f70"),
        "RateLimit": text("What is left (IETF draft): `r` calls in `t` seconds", "\"default\";r=299;t=60"),
        "RateLimit-Policy": text("The limits that apply (IETF draft): `q` calls in `w` seconds", "\"default\";q=300;w=60"),
        "Retry-After": { "description": "Seconds to wait", "schema": { "type": "integer", "minimum": 0 }, "example": 1 },
        "ETag": text("Tag of exactly these bytes, for `If-None-Match`; weak when they are compressed", "\"ba7816bf8f01cfea414140de5dae2223b00361a3\""),
        "Cache-Control": text("How long the answer may be kept", "public, max-age=60"),
    })
}

fn security_schemes(context: &DocumentContext<'_>) -> Value {
    let notes = [
        "Address of the wallet that signed",
        "Unix seconds of the signature",
        "EIP-191 signature of the message that the extension on signing describes; the body's hash is that of nothing or of `{}`",
    ];
    let headers = signing::header_names(&context.environment.brand);
    let schemes = SCHEMES.into_iter().zip(headers).zip(notes).map(|((scheme, header), note)| {
        (scheme.to_owned(), json!({ "type": "apiKey", "in": "header", "name": header, "description": note }))
    });
    schemes.collect::<Map<_, _>>().into()
}
