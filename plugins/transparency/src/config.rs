//! `[plugins.transparency]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use crate::model::Checkpoint;
use plugin_api::{Address, ConfigError, JsonSchema, handles::Environment};
use serde::Deserialize;

/// Key of the contract in whose events agents find the anchors of their memories.
const MEMORY_ANCHOR: &str = "memoryAnchor";

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The name of the log, the first line of its checkpoints. Without it: the one that it has; at first the public URL of the log
    /// without `https://`. Another name begins a new log, with a new key.
    pub origin: Option<String>,
    /// The last checkpoint of the log before this one: its first three lines. A new origin begins only with it.
    pub previous: Option<Checkpoint>,
    /// Publishes the root on the main chain. Without it nothing is sent.
    pub publish: Option<Publication>,
}

/// Where and how often the root is published.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Publication {
    /// Whom the transactions are to. Their data is the root, and the number of entries in 8 bytes; the key of the role `log` pays.
    pub to: Address,
    /// Seconds between two of them: 60 to 31,536,000.
    #[serde(default = "day_s")]
    pub every_s: u32,
}

fn day_s() -> u32 {
    86_400
}

impl Config {
    /// Reports all problems at once.
    pub(crate) fn validate(&self, environment: &Environment) -> Result<(), ConfigError> {
        let origin = self.origin.as_deref().filter(|origin| !Checkpoint::is_origin(origin));
        let (previous, publish) = (self.previous.as_ref(), self.publish.as_ref());
        ConfigError::check([
            publish.and_then(|publish| ConfigError::outside("publish.every_s", publish.every_s, 60..=31_536_000)),
            publish
                .is_some_and(|publish| publish.to == Address::ZERO)
                .then(|| "publish.to is the zero address".to_owned()),
            publish
                .is_some_and(|publish| environment.contract(MEMORY_ANCHOR) == Some(publish.to))
                .then(|| "publish.to is the contract of agents' memories: name another address".to_owned()),
            origin.map(|origin| format!("origin is {origin:?}: 1 to 255 bytes without spaces and plus signs")),
            previous.and_then(Checkpoint::problem).map(|problem| format!("previous is no checkpoint: {problem}")),
            previous.is_some_and(|previous| self.origin.as_ref().is_none_or(|origin| *origin == previous.origin)).then(
                || "previous is the log before this one: set origin to another name than previous.origin".to_owned(),
            ),
        ])
    }
}
