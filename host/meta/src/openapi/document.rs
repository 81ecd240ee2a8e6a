//! The document from its parts.

use super::{components, operation, unused_components};
use crate::{document_context::DocumentContext, paths, signing};
use plugin_api::manifest::{ANY_METHOD, RouteSpec};
use serde_json::{Map, Value, json};

/// Those that a route for any method is documented with.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

pub fn document(context: &DocumentContext<'_>) -> Value {
    let marker = &context.environment.brand.marker;
    let mut document = Map::new();
    document.insert("openapi".into(), "3.1.0".into());
    document.insert("info".into(), info(context));
    document.insert("servers".into(), json!([{ "url": context.environment.base_url }]));
    document.insert("tags".into(), tags(context));
    document.insert("paths".into(), path_items(context));
    document.insert("components".into(), components::components(context));
    document.insert(format!("x-{marker}"), chain_extension(context));
    document.insert(format!("x-{marker}-signing"), signing::extension(context));
    unused_components::remove_unused(&mut document);
    Value::Object(document)
}

fn info(context: &DocumentContext<'_>) -> Value {
    let description = format!(
        "{}\n\nReads are public. A write carries the signature of a wallet in its body: see `x-{}-signing` in this document for \
         the text to sign, and the extension `x-{}-action` of each operation for its action. Every failure has the one body \
         `Error`.",
        context.description(),
        context.environment.brand.marker,
        context.environment.brand.marker,
    );
    json!({
        "title": context.title(),
        "version": context.environment.gateway_version,
        "summary": "Signed writes, public reads, live events",
        "description": description,
        "contact": { "name": context.chain.name, "url": context.web.unwrap_or(&context.environment.base_url) },
        "license": { "name": "MIT or Apache 2.0", "identifier": "MIT OR Apache-2.0" },
    })
}

/// The tags in use; the first plugin that uses a tag describes it.
fn tags(context: &DocumentContext<'_>) -> Value {
    let mut tags: Vec<(&str, &str)> = Vec::new();
    for manifest in context.manifests() {
        for route in &manifest.routes {
            if !tags.iter().any(|(name, _)| *name == route.tag) {
                tags.push((&route.tag, &manifest.summary));
            }
        }
    }
    tags.into_iter().map(|(name, description)| json!({ "name": name, "description": description })).collect()
}

fn path_items(context: &DocumentContext<'_>) -> Value {
    let mut items = Map::new();
    for route in context.routes() {
        let item = items.entry(paths::template(&route.path)).or_insert_with(|| json!({}));
        if route.method != ANY_METHOD {
            item[route.method.to_ascii_lowercase()] = operation::operation(context, route);
        }
    }
    // Another route of the path has its method.
    for route in context.routes().filter(|route| route.method == ANY_METHOD) {
        let item = items.entry(paths::template(&route.path)).or_insert_with(|| json!({}));
        for method in METHODS {
            let operation = format!("{}_{method}", route.operation);
            let of_method = RouteSpec { method: method.to_ascii_uppercase(), operation, ..route.clone() };
            if item.get(method).is_none() {
                item[method] = operation::operation(context, &of_method);
            }
        }
    }
    Value::Object(items)
}

/// Members of the extension `x-<marker>`.
fn chain_extension(context: &DocumentContext<'_>) -> Value {
    let mut chain = Map::new();
    chain.insert("chainId".into(), context.environment.chain_id.into());
    chain.insert("rpc".into(), json!(context.rpc_urls().first()));
    for key in ["registry", "escrow"] {
        chain.insert(key.into(), json!(context.contract(key)));
    }
    for (key, address) in &context.chain.contracts {
        chain.insert(key.clone(), json!(address));
    }
    chain.insert("v3DeployBlock".into(), json!(context.chain.deploy_block));
    Value::Object(chain)
}
