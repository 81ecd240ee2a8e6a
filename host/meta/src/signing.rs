//! How a wallet signs, for manifest, OpenAPI and llms.txt. The rule: one source, so that the three cannot differ.

use crate::{document_context::DocumentContext, paths};
use plugin_api::manifest::{Auth, Brand};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

pub(crate) const SCHEME: &str = "eip191-personal_sign";
const EMPTY_SHA256: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const EMPTY_OBJECT_SHA256: &str = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";

/// How the envelope of a request without a body travels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignedReads {
    /// Names of the three headers that carry address, time and signature.
    pub headers: [String; 3],
    /// Accepted last lines of the message: the hash of nothing, and of `{}`.
    pub body_hashes: [&'static str; 2],
}

pub(crate) fn header_names(brand: &Brand) -> [String; 3] {
    ["Address", "Ts", "Sig"].map(|suffix| format!("{}-{suffix}", brand.header_prefix))
}

pub(crate) fn signed_reads(brand: &Brand) -> SignedReads {
    SignedReads { headers: header_names(brand), body_hashes: [EMPTY_SHA256, EMPTY_OBJECT_SHA256] }
}

/// The five lines with placeholders.
pub(crate) fn message_template(brand: &Brand) -> String {
    message(&brand.message_line, "<action>", "<checksummed address>", "<unix seconds>", "<sha256 hex of the payload>")
}

fn message(first_line: &str, action: &str, address: &str, ts: &str, body_hash: &str) -> String {
    format!("{first_line}\naction: {action}\naddress: {address}\nts: {ts}\nbody: {body_hash}")
}

/// Members of the OpenAPI extension `x-<marker>-signing`.
pub(crate) fn extension(context: &DocumentContext<'_>) -> Value {
    let limits = context.limits;
    json!({
        "scheme": SCHEME,
        "message": message_template(&context.environment.brand),
        "payload": "the request's JSON object without its members address, ts and sig, as RFC 8785 writes it",
        "target": "a payload may name what its path names, as its operation says; then its signature counts for that target only",
        "actions": actions_by_route(context),
        "allActions": context.actions(),
        "signedReads": signed_reads(&context.environment.brand),
        "example": example(context),
        "limits": {
            "tsWindowSeconds": limits.ts_window_s,
            "writeIntervalMs": limits.write_interval_ms,
            "writesPerIpPerMinute": limits.writes_per_ip_per_minute,
            "bodyBytes": limits.body_bytes_max,
        },
    })
}

fn actions_by_route<'a>(context: &DocumentContext<'a>) -> BTreeMap<String, &'a str> {
    let signed = context.routes().filter_map(|route| Some((route, route.auth.action()?)));
    signed.map(|(route, action)| (format!("{} {}", route.method, paths::template(&route.path)), action)).collect()
}

/// A worked example for testing an implementation, with an action that exists here.
fn example(context: &DocumentContext<'_>) -> Value {
    let signed_write = context.routes().find(|route| matches!(route.auth, Auth::SignedBody { .. }));
    let Some(action) = signed_write.and_then(|route| route.auth.action()) else { return Value::Null };
    let (address, ts) = ("0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045", 1_790_000_000);
    let canonical = r#"{"a":[true,null,"€"],"b":2}"#;
    let body_hash = hex::encode(Sha256::digest(canonical));
    let message = message(&context.environment.brand.message_line, action, address, &ts.to_string(), &body_hash);
    let mut request = Map::new();
    request.insert("b".into(), 2.into());
    request.insert("a".into(), json!([true, null, "€"]));
    request.insert("address".into(), address.into());
    request.insert("ts".into(), ts.into());
    json!({
        "action": action,
        "requestWithoutSig": request,
        "canonicalPayload": canonical,
        "bodyHash": body_hash,
        "message": message,
    })
}
