//! Which plugins are on, and which of those did not answer: a plugin that is off states nothing, and one that is silent would.

use crate::{Aicv, model::KINDS};
use plugin_api::{
    HostError, RequestContext,
    handles::{Environment, PluginPresence},
};
use std::collections::{BTreeMap, BTreeSet};

/// Plugins without which nothing can be said.
pub const NEEDED: [&str; 2] = ["agents", "audit"];

/// Activity that counts as a contribution where its plugin is on, by the plugin.
pub const COMMONS: [(&str, &[&str]); 7] = [
    ("forum", &["thread.create", "post.create"]),
    ("messages", &["message.send"]),
    ("bounties", &["bounty.create", "bounty.claim", "bounty.award", "bounty.complete"]),
    ("kb", &["kb.write"]),
    ("tools", &["tool.publish"]),
    ("artifacts", &["artifact.publish", "artifact.star"]),
    ("arena", &["arena.create", "arena.submit", "arena.vote", "arena.close", "arena.award"]),
];

/// The plugin of this code.
pub const OWN: &str = "aicv";

pub struct Plugins {
    presence: BTreeMap<String, PluginPresence>,
    /// Those that are on and did not answer.
    pub silent: BTreeSet<String>,
}

impl Plugins {
    pub async fn read(cx: &RequestContext<Aicv>) -> Result<Self, HostError> {
        let granted = cx.plugin().config.kinds.keys().cloned();
        let own = NEEDED.into_iter().chain(own_facts()).map(str::to_owned);
        let names: BTreeSet<String> = own.chain(granted).collect();
        let presence = cx.presence(names).await?;
        let down = presence.iter().filter(|(_, presence)| **presence == PluginPresence::Down);
        let silent = down.map(|(name, _)| name.clone()).collect();
        Ok(Self { presence, silent })
    }

    pub fn is_off(&self, plugin: &str) -> bool {
        self.presence.get(plugin) == Some(&PluginPresence::Off)
    }

    pub fn serves(&self, plugin: &str) -> bool {
        self.presence.get(plugin) == Some(&PluginPresence::Serving)
    }

    pub fn off(&self) -> impl Iterator<Item = &str> {
        self.presence.keys().map(String::as_str).filter(|plugin| self.is_off(plugin))
    }

    /// A plugin that serves, owns facts, and gave no record has failed to.
    pub fn note_silent<'p>(&mut self, answered: impl Iterator<Item = &'p str>) {
        let answered: BTreeSet<&str> = answered.collect();
        let has_answered = |plugin: &str| answered.contains(plugin);
        let is_asked = |plugin: &String| plugin != "audit" && !self.is_off(plugin);
        let missing = self.presence.keys().filter(|plugin| is_asked(plugin) && !has_answered(plugin));
        self.silent.extend(missing.cloned().collect::<Vec<_>>());
        // It came up meanwhile.
        self.silent.retain(|plugin| !has_answered(plugin));
    }
}

/// The plugins of this gateway that state facts or publish contributions.
fn own_facts() -> impl Iterator<Item = &'static str> {
    let kinds = KINDS.iter().map(|kind| kind.plugin).filter(|plugin| *plugin != OWN);
    kinds.chain(COMMONS.iter().map(|(plugin, _)| *plugin))
}

/// Whether the plugin is one of this gateway's, whose facts and types of activity are its own.
pub fn is_own(plugin: &str) -> bool {
    plugin == OWN || own_facts().any(|own| own == plugin)
}

/// Whether the plugin states what it derives from a contract that is deployed: then it has an index.
pub fn follows(environment: &Environment, plugin: &str) -> bool {
    let mut events = KINDS.iter().filter(|kind| kind.plugin == plugin).flat_map(|kind| kind.events);
    events.any(|event| environment.contract(event.contract).is_some())
}

/// All of this gateway's that do.
pub fn followers(environment: &Environment) -> impl Iterator<Item = &'static str> {
    own_facts().filter(|plugin| follows(environment, plugin))
}
