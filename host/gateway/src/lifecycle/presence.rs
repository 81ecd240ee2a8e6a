//! Whether a plugin is on and serves, for other plugins.

use super::PluginManager;
use gateway_plugins::PluginNames;
use plugin_api::manifest::{ContributionSpec, PluginPresence};
use std::sync::Weak;

/// A manager, as long as its gateway runs.
struct ManagedPlugins(Weak<PluginManager>);

impl PluginNames for ManagedPlugins {
    fn presence(&self, plugin: &str) -> PluginPresence {
        self.0.upgrade().map_or(PluginPresence::Down, |manager| manager.presence(plugin))
    }

    fn contributors(&self, point: &str) -> Vec<String> {
        self.0.upgrade().map(|manager| manager.contributors(point)).unwrap_or_default()
    }
}

impl PluginManager {
    /// Lets plugins ask this manager who serves.
    pub(super) fn register_presences(&self) {
        self.parts.capabilities.presences.set_registry(ManagedPlugins(self.me.clone()));
    }

    /// Of a plugin that is restarted, or whose gateway stops, nobody says that it is off.
    fn presence(&self, name: &str) -> PluginPresence {
        let registry = self.registry.lock();
        if registry.entries.get(name).is_some_and(|entry| entry.running.is_some()) {
            return PluginPresence::Serving;
        }
        let latest = registry.latest_config();
        let is_on = registry.wanted(latest.as_deref().unwrap_or(self.config())).contains(name);
        if is_on || registry.is_closed() { PluginPresence::Down } else { PluginPresence::Off }
    }

    fn contributors(&self, point: &str) -> Vec<String> {
        let registry = self.registry.lock();
        let latest = registry.latest_config();
        let wanted = registry.wanted(latest.as_deref().unwrap_or(self.config()));
        let contributing = registry.entries.iter().filter(|(name, entry)| {
            let contributes =
                |contributed: &[ContributionSpec]| contributed.iter().any(|contribution| contribution.point == point);
            let is_known_not_to =
                entry.loaded.as_ref().is_some_and(|loaded| !contributes(&loaded.manifest.contributions));
            (entry.running.is_some() || wanted.contains(*name)) && !is_known_not_to
        });
        contributing.map(|(name, _)| name.clone()).collect()
    }
}
