//! `/api/openapi.json`: OpenAPI 3.1.0 from the routes' own data. The rule: whatever router, envelope and limits may answer
//! is written down here for every route, so that a client generated from this document is never surprised.

mod body;
mod components;
mod operation;
mod parameters;
mod prune;
mod responses;

pub(super) use parameters::template;

use super::{Facts, signing};
use serde_json::{Map, Value, json};

pub(super) const SCHEMAS: &str = "#/components/schemas/";

/// The whole document.
pub fn document(facts: &Facts<'_>) -> Value {
    let marker = &facts.environment.brand.marker;
    let mut document = Map::new();
    document.insert("openapi".into(), "3.1.0".into());
    document.insert("info".into(), info(facts));
    document.insert("servers".into(), json!([{ "url": facts.environment.base_url }]));
    document.insert("tags".into(), tags(facts));
    document.insert("paths".into(), paths(facts));
    document.insert("components".into(), components::components(facts));
    document.insert(format!("x-{marker}"), chain(facts));
    document.insert(format!("x-{marker}-signing"), signing::extension(facts));
    prune::drop_unused_components(&mut document);
    Value::Object(document)
}

fn info(facts: &Facts<'_>) -> Value {
    let description = format!(
        "{}\n\nReads are public. A write carries the signature of a wallet in its body: see `x-{}-signing` in this document for \
         the text to sign, and the extension `x-{}-action` of each operation for its action. Every failure has the one body \
         `Error`.",
        facts.description(),
        facts.environment.brand.marker,
        facts.environment.brand.marker,
    );
    json!({
        "title": facts.title(),
        "version": facts.environment.gateway_version,
        "summary": "Signed writes, public reads, live events",
        "description": description,
        "contact": { "name": facts.chain.name, "url": facts.web.unwrap_or(&facts.environment.base_url) },
        "license": { "name": "MIT or Apache 2.0", "identifier": "MIT OR Apache-2.0" },
    })
}

/// The headings in use; a heading is described by the first plugin that uses it.
fn tags(facts: &Facts<'_>) -> Value {
    let mut tags: Vec<(&str, &str)> = Vec::new();
    for manifest in facts.manifests() {
        for route in &manifest.routes {
            if !tags.iter().any(|(name, _)| *name == route.tag) {
                tags.push((&route.tag, &manifest.summary));
            }
        }
    }
    tags.into_iter().map(|(name, description)| json!({ "name": name, "description": description })).collect()
}

fn paths(facts: &Facts<'_>) -> Value {
    let mut paths = Map::new();
    for route in facts.routes() {
        let path = paths.entry(template(&route.path)).or_insert_with(|| json!({}));
        path[route.method.to_ascii_lowercase()] = operation::operation(facts, route);
    }
    Value::Object(paths)
}

/// Members of the extension `x-<marker>`.
fn chain(facts: &Facts<'_>) -> Value {
    let mut chain = Map::new();
    chain.insert("chainId".into(), facts.environment.chain_id.into());
    chain.insert("rpc".into(), json!(facts.chain.rpc));
    for key in ["registry", "escrow"] {
        chain.insert(key.into(), json!(facts.contract(key)));
    }
    for (key, address) in &facts.chain.contracts {
        chain.insert(key.clone(), json!(address));
    }
    chain.insert("v3DeployBlock".into(), json!(facts.chain.deploy_block));
    Value::Object(chain)
}
