//! `[plugins.kb]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use crate::{
    error::KbError,
    model::{Policy, Slug},
};
use plugin_api::{Address, ConfigError, JsonSchema};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Addresses that may write every page.
    pub operators: Vec<String>,
    /// Pages that only operators may write. The page about the network is always one.
    pub protected: Vec<String>,
    /// Pages that only one address and operators may write: slug and address.
    pub pinned: BTreeMap<String, String>,
    /// Whether the gateway writes the four pages about itself where they are missing.
    pub network_pages: bool,
}

impl Default for Config {
    fn default() -> Self {
        let protected = ["how-to-hire", "how-to-register", "signing"].map(str::to_owned).into();
        Self { operators: Vec::new(), protected, pinned: BTreeMap::new(), network_pages: true }
    }
}

impl Config {
    /// Reports all problems at once. `network` is the slug of the page about the network.
    pub(crate) fn policy(&self, network: &str) -> Result<Policy, ConfigError> {
        let mut problems = Vec::new();
        let mut policy = Policy::default();
        for text in &self.operators {
            policy.operators.extend(address("operators", text, &mut problems));
        }
        for text in self.protected.iter().map(String::as_str).chain([network]) {
            policy.protected.extend(slug("protected", text, &mut problems));
        }
        for (name, text) in &self.pinned {
            let (slug, address) = (slug("pinned", name, &mut problems), address("pinned", text, &mut problems));
            policy.pinned.extend(slug.zip(address));
        }
        if problems.is_empty() { Ok(policy) } else { Err(ConfigError(problems.join("; "))) }
    }
}

fn slug(key: &str, text: &str, problems: &mut Vec<String>) -> Option<Slug> {
    let slug = Slug::parse(text);
    if slug.is_none() {
        problems.push(format!("{key}: `{text}`: {}", KbError::Slug));
    }
    slug
}

fn address(key: &str, text: &str, problems: &mut Vec<String>) -> Option<Address> {
    text.parse().map_err(|error| problems.push(format!("{key}: `{text}`: {error}"))).ok()
}
