//! What keeps a plugin from starting and can be known before its code runs.
//!
//! The rule: all of it is reported at once, by a start as by `gateway check`.

use super::{
    manager::{PluginManager, StartMode},
    registry::{InactiveReason, PluginRegistry},
};
use gateway_config::Config;
use gateway_plugins::{LoadedPlugin, missing_consent};
use gateway_storage::{Dialect, MigrationSet, Scope, migration_problems};
use std::sync::Arc;

impl PluginManager {
    /// Whether there are any; they are noted then, and logged.
    pub(super) fn has_obstacles(&self, name: &str, config: &Config) -> bool {
        let mut registry = self.registry.lock();
        let file = registry.entries.get(name).and_then(|entry| entry.file.obstacle(&entry.report));
        if let Some((state, reason)) = file {
            tracing::error!(plugin = name, %state, "{reason}");
            registry.note(name, InactiveReason { state, reason });
            return true;
        }
        let obstacles = registry.obstacles(name, config, &self.migration_check());
        let is_any = !obstacles.is_empty();
        if is_any {
            let reason = obstacles.join("; ");
            tracing::error!(plugin = name, "{reason}");
            registry.note_obstacles(name, obstacles);
        }
        is_any
    }

    /// What kept the plugin from starting, one by one: its reason when that is all there is to say.
    pub(crate) fn obstacles_of(&self, name: &str) -> Vec<String> {
        let registry = self.registry.lock();
        let Some(entry) = registry.entries.get(name) else { return Vec::new() };
        if entry.obstacles.is_empty() { vec![entry.reason.clone()] } else { entry.obstacles.clone() }
    }

    fn migration_check(&self) -> MigrationCheck {
        match self.parts.mode {
            StartMode::DryRun(dialect) => MigrationCheck { dialect, is_last: true },
            StartMode::Serve => MigrationCheck { dialect: self.transactions().database.dialect(), is_last: false },
        }
    }
}

/// For which database migrations are checked here.
struct MigrationCheck {
    dialect: Dialect,
    /// Whether nothing checks them after this. A start that finds no other obstacle does when it migrates.
    is_last: bool,
}

impl PluginRegistry {
    fn obstacles(&self, name: &str, config: &Config, check: &MigrationCheck) -> Vec<String> {
        let Some(loaded) = self.entries.get(name).and_then(|entry| entry.loaded.clone()) else { return Vec::new() };
        let mut obstacles = self.name_conflicts.get(name).cloned().unwrap_or_default();
        obstacles.extend(self.missing_requirements(&loaded));
        obstacles.extend(self.service_differences(&loaded));
        obstacles.extend(missing_consent(&loaded, &config.plugins.settings(name)));
        if check.is_last || !obstacles.is_empty() {
            obstacles.extend(self.migration_problems(&loaded, check.dialect));
        }
        obstacles
    }

    /// Statements that the plugin may not run, such as those about tables of others.
    fn migration_problems(&self, loaded: &LoadedPlugin, dialect: Dialect) -> Vec<String> {
        let manifest = &loaded.manifest;
        let scope = Scope::plugin(&manifest.name, Arc::new(self.readable_views(manifest)));
        let migrations = MigrationSet { scope: &scope, views: &manifest.views, migrations: &manifest.migrations };
        migration_problems(&migrations, dialect)
    }

    fn note_obstacles(&mut self, name: &str, obstacles: Vec<String>) {
        self.note(name, InactiveReason::failed(obstacles.join("; ")));
        if let Some(entry) = self.entries.get_mut(name) {
            entry.obstacles = obstacles;
        }
    }
}
