//! Reads what all plugins answer to everybody, once nothing fails any more.

use crate::{
    replica::Request,
    site::{Answer, Site},
};
use http::header::ETAG;

const DOCUMENT: &str = "/api/openapi.json";

/// What is wrong: no answer, an error of the gateway, or an answer of two gateways that should be one.
pub(super) async fn read_everything(site: &Site) -> Vec<String> {
    let Some(document) = site.send_to(0, Request::get(DOCUMENT)).await else {
        return vec![format!("no answer to {DOCUMENT}")];
    };
    let paths = readable(&document);
    let mut found = Vec::new();
    if paths.is_empty() {
        found.push(format!("{DOCUMENT} names nothing that can be read"));
    }
    for path in paths {
        let mut tags = Vec::new();
        for place in 0..site.count() {
            let answer = site.send_to(place, Request::get(&path)).await;
            let answered = answer.as_ref().map(|answer| (answer.status, answer.code()));
            if answered.is_none_or(|(status, _)| status >= 500 && status != 503) {
                found.push(format!("gateway {place} answered {answered:?} to GET {path}"));
            }
            tags.extend(answer.and_then(|answer| answer.headers.get(ETAG).cloned()));
        }
        if tags.windows(2).any(|pair| pair[0] != pair[1]) {
            found.push(format!("gateways answer GET {path} differently: {tags:?}"));
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
