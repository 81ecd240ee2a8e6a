//! The plugins that serve, and what their responses depend on.

use super::active_plugin::ActivePlugin;
use arc_swap::ArcSwap;
use gateway_storage::{ReadDependencies, Revisions};
use std::{
    collections::{HashMap, HashSet},
    ops::Deref,
    sync::Arc,
};

/// The plugins that serve right now, by name.
#[derive(Clone, Default)]
pub struct ActivePlugins(Arc<ArcSwap<ActiveSet>>);

/// One set of plugins that serve together.
#[derive(Clone, Default)]
pub struct ActiveSet {
    /// No two sets of a gateway have the same.
    generation: u64,
    plugins: Vec<Arc<ActivePlugin>>,
    /// Who contributes to an extension point: its plugin, and the index in the plugin's manifest. Made once per set, so that
    /// what a request collects does not depend on how many plugins contribute to other points.
    contributors: HashMap<String, Vec<(Arc<ActivePlugin>, u32)>>,
    /// Who provides a service: its plugin, and the index in the plugin's manifest.
    providers: HashMap<String, (Arc<ActivePlugin>, u32)>,
    /// The paths of their routes, with parameters that have no names.
    paths: HashSet<String>,
}

impl ActivePlugins {
    pub fn list(&self) -> Arc<ActiveSet> {
        self.0.load_full()
    }

    pub fn replace(&self, plugins: Vec<Arc<ActivePlugin>>) {
        let set = ActiveSet::new(plugins);
        self.0.rcu(|last| Arc::new(ActiveSet { generation: last.generation + 1, ..set.clone() }));
    }

    /// Whether one of them has a route with this path.
    pub fn serves(&self, path: &str) -> bool {
        self.0.load().paths.contains(&without_names(path))
    }
}

impl ActiveSet {
    fn new(plugins: Vec<Arc<ActivePlugin>>) -> Self {
        let mut contributors: HashMap<String, Vec<_>> = HashMap::new();
        let mut providers = HashMap::new();
        for plugin in &plugins {
            for (index, spec) in (0u32..).zip(&plugin.manifest.provides) {
                providers.insert(spec.name.clone(), (plugin.clone(), index));
            }
            for (index, spec) in (0u32..).zip(&plugin.manifest.contributions) {
                contributors.entry(spec.point.clone()).or_default().push((plugin.clone(), index));
            }
        }
        let routes = plugins.iter().flat_map(|plugin| &plugin.manifest.routes);
        let paths = routes.map(|route| without_names(&route.path)).collect();
        Self { generation: 0, plugins, contributors, providers, paths }
    }

    pub fn generation(&self) -> u64 {
        self.generation
    }

    pub fn contributors(&self, point: &str) -> &[(Arc<ActivePlugin>, u32)] {
        self.contributors.get(point).map(Vec::as_slice).unwrap_or_default()
    }

    pub fn provider(&self, service: &str) -> Option<&(Arc<ActivePlugin>, u32)> {
        self.providers.get(service)
    }
}

impl Deref for ActiveSet {
    type Target = [Arc<ActivePlugin>];

    fn deref(&self) -> &Self::Target {
        &self.plugins
    }
}

/// `/a/{slug}/invoke` as `/a/{}/invoke`.
fn without_names(path: &str) -> String {
    let mut plain = String::with_capacity(path.len());
    for part in path.split_inclusive('}') {
        match part.split_once('{') {
            Some((text, _name)) => plain.extend([text, "{}"]),
            None => plain.push_str(part),
        }
    }
    plain
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

#[cfg(test)]
mod tests {
    use super::without_names;

    #[test]
    fn names_of_parameters_do_not_matter() {
        assert_eq!(without_names("/api/cv/{agent}/verify"), without_names("/api/cv/{id}/verify"));
        assert_eq!(without_names("/a/{slug}/.well-known/agent.json"), "/a/{}/.well-known/agent.json");
        assert_eq!(without_names("/api/files/{*rest}"), "/api/files/{}");
        assert_eq!(without_names("/api/agents"), "/api/agents");
    }
}
