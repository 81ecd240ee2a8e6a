//! Which plugins are on and serve, for plugins that have to say why another one's contribution is missing.

use plugin_api::manifest::PluginPresence;
use std::sync::OnceLock;

/// What the gateway's registry of plugins says of plugins that are on.
pub trait PluginNames: Send + Sync {
    fn presence(&self, plugin: &str) -> PluginPresence;

    /// Those that contribute to the point, whether they serve or not; of one that is not loaded nobody knows, so it is among them.
    fn contributors(&self, point: &str) -> Vec<String>;
}

/// Asks the gateway's registry of plugins, which is made after this.
#[derive(Default)]
pub struct PluginPresences(OnceLock<Box<dyn PluginNames>>);

impl PluginPresences {
    /// The first registry stays.
    pub fn set_registry(&self, registry: impl PluginNames + 'static) {
        // Each gateway has one registry, which sets itself once.
        let _is_first = self.0.set(Box::new(registry));
    }

    pub fn of(&self, plugin: &str) -> PluginPresence {
        self.0.get().map_or(PluginPresence::Down, |registry| registry.presence(plugin))
    }

    pub fn contributors(&self, point: &str) -> Vec<String> {
        self.0.get().map(|registry| registry.contributors(point)).unwrap_or_default()
    }
}
