//! Reads what all plugins answer to everybody, once nothing fails any more.

use crate::{
    replica::Request,
    site::{Answer, Site},
};
use http::header::ETAG;

const DOCUMENT: &str = "/api/openapi.json";
/// Fewer would mean that plugins are missing.
const PATHS_MIN: usize = 60;
/// What is 503 without a configuration that runs do not have: a market, and the contracts of a coin. For operators it is `disabled`.
const UNCONFIGURED: [&str; 2] = ["/api/payin/market", "/api/supply"];

/// What is wrong: no answer, an error of the gateway, or an answer of two gateways that should be one.
pub(super) async fn read_everything(site: &Site) -> Vec<String> {
    let Some(document) = site.send_to(0, Request::get(DOCUMENT)).await else {
        return vec![format!("no answer to {DOCUMENT}")];
    };
    let paths = readable(&document);
    let mut found = Vec::new();
    if paths.len() < PATHS_MIN {
        found.push(format!("{DOCUMENT} names {} paths that can be read", paths.len()));
    }
    for path in paths {
        let is_configured = !UNCONFIGURED.iter().any(|unconfigured| path.starts_with(unconfigured));
        let mut answered = Vec::new();
        for place in 0..site.count() {
            let Some(answer) = site.send_to(place, Request::get(&path)).await else {
                found.push(format!("gateway {place} does not answer GET {path}"));
                continue;
            };
            let is_off = answer.status == 503 && (!is_configured || answer.code() == "disabled");
            if answer.status >= 500 && !is_off {
                found.push(format!("gateway {place} answered {} {} to GET {path}", answer.status, answer.code()));
            }
            answered.push((answer.status, answer.headers.get(ETAG).cloned()));
        }
        if answered.windows(2).any(|pair| pair[0] != pair[1]) {
            found.push(format!("gateways answer GET {path} differently: {answered:?}"));
        }
    }
    found
}

/// Paths without parameters, but for streams, which do not end.
fn readable(document: &Answer) -> Vec<String> {
    let Some(paths) = document.body["paths"].as_object() else { return Vec::new() };
    let is_stream = |operation: &serde_json::Value| {
        let content = operation["responses"]["200"]["content"].as_object();
        content.is_some_and(|content| content.contains_key("text/event-stream"))
    };
    let readable = paths.iter().filter(|(path, methods)| {
        !path.contains('{') && methods.get("get").is_some_and(|operation| !is_stream(operation))
    });
    readable.map(|(path, _)| path.clone()).collect()
}
