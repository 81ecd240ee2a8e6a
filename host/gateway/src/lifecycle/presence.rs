//! Whether a plugin is on and serves, for other plugins.

use super::PluginManager;
use plugin_api::manifest::PluginPresence;

impl PluginManager {
    /// Lets plugins ask.
    pub(super) fn tell_presences(&self) {
        let me = self.me.clone();
        let presence = move |name: &str| me.upgrade().map_or(PluginPresence::Down, |manager| manager.presence(name));
        self.host().presences.set_registry(presence);
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
}
