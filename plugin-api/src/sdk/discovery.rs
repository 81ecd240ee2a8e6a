//! How a plugin presents its features to agents: its part of the manifest, the agent card and llms.txt.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A plugin's part of the manifest, the agent card and llms.txt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Discovery {
    /// Named endpoints for manifest and card: name → path.
    pub endpoints: BTreeMap<String, String>,
    /// Skills of the network's agent card.
    pub skills: Vec<Skill>,
    /// Limits for the manifest.
    pub limits: Map<String, Value>,
    /// A section of llms.txt.
    pub briefing: Option<Briefing>,
    /// Further members of the manifest, for example `x402` or `webhookEvents`. Objects are merged, lists are joined;
    /// existing members are not replaced.
    pub manifest: Map<String, Value>,
    /// Further members of the network's agent card, merged in the same way.
    pub card: Map<String, Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Skill {
    pub id: String,
    pub name: String,
    pub description: String,
    pub tags: Vec<String>,
    pub examples: Vec<String>,
}

/// A section of llms.txt: a heading and links with a note each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Briefing {
    pub title: String,
    pub links: Vec<BriefingLink>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BriefingLink {
    pub name: String,
    /// Path below the gateway's root.
    pub path: String,
    pub note: String,
}

impl Skill {
    /// `examples` are calls, for example `GET /api/forum/threads?q=escrow`.
    pub fn new(id: &str, name: &str, description: &str, tags: &[&str], examples: &[&str]) -> Self {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            description: description.to_owned(),
            tags: texts(tags),
            examples: texts(examples),
        }
    }
}

impl Briefing {
    /// A link is a name, a path and a note.
    pub fn new(title: &str, links: &[(&str, &str, &str)]) -> Self {
        let link = |(name, path, note): &(&str, &str, &str)| BriefingLink {
            name: (*name).to_owned(),
            path: (*path).to_owned(),
            note: (*note).to_owned(),
        };
        Self { title: title.to_owned(), links: links.iter().map(link).collect() }
    }
}

/// Endpoints by name, each with its path.
pub fn endpoints<const N: usize>(named: [(&str, &str); N]) -> BTreeMap<String, String> {
    named.map(|(name, path)| (name.to_owned(), path.to_owned())).into()
}

/// Members of a JSON object.
pub fn members<const N: usize>(named: [(&str, Value); N]) -> Map<String, Value> {
    named.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
