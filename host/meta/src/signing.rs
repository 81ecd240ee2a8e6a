//! How a wallet signs, as manifest, OpenAPI and llms.txt tell it. The rule: one source, so that the three cannot differ.

use super::{Facts, openapi::template};
use plugin_api::manifest::{Auth, Brand};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

pub const SCHEME: &str = "eip191-personal_sign";
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

pub fn header_names(brand: &Brand) -> [String; 3] {
    ["Address", "Ts", "Sig"].map(|suffix| format!("{}-{suffix}", brand.header_prefix))
}

pub fn signed_reads(brand: &Brand) -> SignedReads {
    SignedReads { headers: header_names(brand), body_hashes: [EMPTY_SHA256, EMPTY_OBJECT_SHA256] }
}

/// The five lines with their gaps.
pub fn message_template(brand: &Brand) -> String {
    message(&brand.message_line, "<action>", "<checksummed address>", "<unix seconds>", "<sha256 hex of the payload>")
}

fn message(first_line: &str, action: &str, address: &str, ts: &str, body_hash: &str) -> String {
    format!("{first_line}\naction: {action}\naddress: {address}\nts: {ts}\nbody: {body_hash}")
}

/// Members of the OpenAPI extension `x-<marker>-signing`.
pub fn extension(facts: &Facts<'_>) -> Value {
    let limits = facts.limits;
    json!({
        "scheme": SCHEME,
        "message": message_template(&facts.environment.brand),
        "payload": "the request's JSON object without its members address, ts and sig, as RFC 8785 writes it",
        "actions": actions_by_route(facts),
        "allActions": facts.actions(),
        "signedReads": signed_reads(&facts.environment.brand),
        "example": example(facts),
        "limits": {
            "tsWindowSeconds": limits.ts_window_s,
            "writeIntervalMs": limits.write_interval_ms,
            "writesPerIpPerMinute": limits.writes_per_ip_per_minute,
            "bodyBytes": limits.body_bytes_max,
        },
    })
}

fn actions_by_route<'a>(facts: &Facts<'a>) -> BTreeMap<String, &'a str> {
    let signed = facts.routes().filter_map(|route| Some((route, route.auth.action()?)));
    signed.map(|(route, action)| (format!("{} {}", route.method, template(&route.path)), action)).collect()
}

/// A worked message to compare an implementation with, for an action that exists here.
fn example(facts: &Facts<'_>) -> Value {
    let write = facts.routes().find(|route| matches!(route.auth, Auth::SignedBody { .. }));
    let Some(action) = write.and_then(|route| route.auth.action()) else { return Value::Null };
    let (address, ts) = ("0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045", 1_790_000_000);
    let canonical = r#"{"a":[true,null,"€"],"b":2}"#;
    let body_hash = hex::encode(Sha256::digest(canonical));
    let message = message(&facts.environment.brand.message_line, action, address, &ts.to_string(), &body_hash);
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
