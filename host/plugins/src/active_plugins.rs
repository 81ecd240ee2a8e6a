//! The plugins that serve, and what their responses depend on.

use super::ActivePlugin;
use arc_swap::ArcSwap;
use gateway_storage::{ReadDependencies, Revisions};
use std::sync::Arc;

/// The plugins that serve right now, by name.
#[derive(Default)]
pub struct ActivePlugins(ArcSwap<Vec<Arc<ActivePlugin>>>);

impl ActivePlugins {
    pub fn list(&self) -> Arc<Vec<Arc<ActivePlugin>>> {
        self.0.load_full()
    }

    pub fn replace(&self, plugins: Vec<Arc<ActivePlugin>>) {
        self.0.store(Arc::new(plugins));
    }
}

/// The stored data that a plugin's responses may depend on: its own, and that of the plugins it requires, transitively.
pub fn dependencies_of(active: &[Arc<ActivePlugin>], plugin: &ActivePlugin, revisions: &Revisions) -> ReadDependencies {
    let mut names = vec![plugin.name()];
    let mut dependencies = ReadDependencies { revisions: vec![revisions.everything()], ..ReadDependencies::default() };
    let mut next = 0;
    while let Some(name) = names.get(next).copied() {
        next += 1;
        dependencies.revisions.push(revisions.of(name));
        let Some(required) = active.iter().find(|other| other.name() == name) else { continue };
        dependencies.views.extend(required.manifest.views.iter().cloned());
        let more = required.manifest.requires.iter().map(String::as_str);
        more.for_each(|name| {
            if !names.contains(&name) {
                names.push(name);
            }
        });
    }
    dependencies
}
