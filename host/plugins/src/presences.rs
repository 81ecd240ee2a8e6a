//! Which plugins are on and serve, for plugins that have to say why another one's contribution is missing.

use plugin_api::manifest::PluginPresence;
use std::sync::OnceLock;

type Registry = Box<dyn Fn(&str) -> PluginPresence + Send + Sync>;

/// Asks the gateway's registry of plugins, which is made after this.
#[derive(Default)]
pub struct PluginPresences(OnceLock<Registry>);

impl PluginPresences {
    /// The first registry stays.
    pub fn set_registry(&self, registry: impl Fn(&str) -> PluginPresence + Send + Sync + 'static) {
        // Each gateway has one registry, which sets itself once.
        let _is_first = self.0.set(Box::new(registry));
    }

    pub fn of(&self, plugin: &str) -> PluginPresence {
        self.0.get().map_or(PluginPresence::Down, |registry| registry(plugin))
    }
}
