//! `[plugins.aicv]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use crate::model::{Kind, SLASH};
use plugin_api::{Address, ConfigError, JsonSchema};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Name of the EIP-712 domain of proofs.
    pub domain_name: String,
    /// URLs of nodes that documents name for verifiers.
    pub rpc: Vec<String>,
    /// The block explorer that documents name.
    pub explorer: Option<String>,
    /// The network's treasury, which documents name among the contracts.
    pub treasury: Option<Address>,
    /// Kinds of claims that a plugin of a third party may state: the gateway signs them. By the plugin's name. With `Contribution`, the events
    /// of the types that it names are counted.
    pub kinds: BTreeMap<String, Vec<String>>,
    /// Documents of one agent that are kept beside the current one, so that `?document=` finds them: 1 to 1000. An anchored one is
    /// always kept. So many issues that were replaced are kept, too, of which an anchored document is made again.
    pub kept_documents: i64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            domain_name: "Service AI-CV".to_owned(),
            rpc: Vec::new(),
            explorer: None,
            treasury: None,
            kinds: BTreeMap::new(),
            kept_documents: 20,
        }
    }
}

impl Config {
    /// Reports all problems at once.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let is_url = |url: &String| url.starts_with("https://") || url.starts_with("http://");
        let urls = self.rpc.iter().chain(&self.explorer).filter(|url| !is_url(url));
        let wrong_urls = urls.map(|url| Some(format!("{url:?} is no http or https URL")));
        let wrong_kinds = self.kinds.values().flatten().filter_map(|name| {
            let why = match Kind::find(name) {
                Some(kind) if kind.is_for_third_parties() => return None,
                Some(_) => "has members that no event tells",
                None if name == SLASH => "is emitted by nobody",
                None => "is no kind of claims",
            };
            Some(Some(format!("kinds: {name:?} {why}")))
        });
        let own = [
            self.domain_name.is_empty().then(|| "domain_name is empty".to_owned()),
            ConfigError::outside("kept_documents", self.kept_documents, 1..=1000),
        ];
        ConfigError::check(wrong_urls.chain(wrong_kinds).chain(own))
    }
}
