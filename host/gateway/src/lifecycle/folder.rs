//! What a running gateway finds in the folder of plugins: libraries that were added, replaced or removed since it started.
//!
//! The rule: a library that is found later passes the checks of a start, and what is mapped is never exchanged.

use super::{
    file_state::{FileState, tables_line},
    manager::PluginManager,
    registry::PluginRegistry,
};
use gateway_config::Config;
use gateway_plugins::{FolderChanges, LoadedPlugin, PluginFolder, PluginReport, PluginState};
use gateway_storage::{AppliedMigration, PluginObjects, StorageError, ViewNames};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// A library whose own constructors never return must not keep operators' commands waiting for ever.
const LOOK_TIMEOUT: Duration = Duration::from_secs(60);

impl PluginManager {
    /// From now on SIGHUP and `enable` look at this folder, from which the plugins came.
    pub fn follow_folder(&self, folder: PluginFolder) {
        *self.folder.lock() = Some(folder);
    }

    /// One report per plugin, also of those whose file is gone and whose tables are still there.
    pub fn all_reports(&self) -> Vec<PluginReport> {
        let registry = self.registry.lock();
        let names: BTreeSet<&String> = registry.entries.keys().chain(registry.gone.keys()).collect();
        names.into_iter().filter_map(|name| registry.report_of_any(name)).collect()
    }

    /// Loads what is new in the folder, or new of one plugin, and notes what was replaced or removed.
    pub(super) async fn look_at_folder(&self, config: &Config, only: Option<&str>) {
        let Some(mut folder) = self.folder.lock().take() else { return };
        let (config, only) = (config.clone(), only.map(str::to_owned));
        let look = move || {
            let changes = folder.changes(&config, only.as_deref());
            (folder, changes)
        };
        match tokio::time::timeout(LOOK_TIMEOUT, tokio::task::spawn_blocking(look)).await {
            Ok(Ok((folder, changes))) => {
                *self.folder.lock() = Some(folder);
                match changes {
                    Ok(mut changes) => {
                        let pending = std::mem::take(&mut changes.pending);
                        self.registry.lock().apply(changes);
                        self.await_libraries(pending);
                    }
                    Err(error) => tracing::error!(%error, "the plugins stay as they are"),
                }
            }
            Ok(Err(error)) => tracing::error!(%error, "the folder of plugins is not looked at again before a restart"),
            Err(_elapsed) => tracing::error!(
                limit = ?LOOK_TIMEOUT,
                "a library in the folder of plugins does not load; the folder is not looked at again before a restart"
            ),
        }
        self.note_gone().await;
    }

    /// Notes which plugins have tables and no file. Without the database they stay as they were known.
    pub(super) async fn note_gone(&self) {
        match self.reports_of_gone().await {
            Ok(gone) => self.registry.lock().set_gone(gone),
            Err(error) => tracing::warn!(%error, "whose tables are left of plugins that are gone cannot be read"),
        }
    }

    async fn reports_of_gone(&self) -> Result<BTreeMap<String, PluginReport>, StorageError> {
        let database = &self.transactions().database;
        let applied = database.migration_status(None).await?;
        let names = self.registry.lock().without_file(&applied);
        let mut gone = BTreeMap::new();
        for name in names {
            let objects = PluginObjects::of(database, &name, &ViewNames::new()).await?;
            let migrations = applied.iter().filter(|migration| migration.plugin == name).count();
            gone.insert(name.clone(), gone_report(&name, &objects.tables, migrations));
        }
        Ok(gone)
    }
}

/// The report of a plugin that has no file and is not loaded.
pub fn gone_report(name: &str, tables: &[String], migrations: usize) -> PluginReport {
    let left = tables_line(tables);
    let reason = format!("its file is not in the folder; {left}; `gateway plugins purge {name}` drops what is left");
    PluginReport {
        tables: tables.to_vec(),
        migrations_applied: migrations,
        ..PluginReport::named(name, PluginState::Gone, reason)
    }
}

impl PluginRegistry {
    /// The report of a plugin that is there, or gone.
    pub(super) fn report_of_any(&self, name: &str) -> Option<PluginReport> {
        self.report(name).or_else(|| self.gone.get(name).cloned())
    }

    fn apply(&mut self, changes: FolderChanges) {
        for outcome in changes.outcomes {
            match outcome {
                Ok(loaded) => self.found(loaded),
                Err(report) => self.found_unusable(*report),
            }
        }
        for name in changes.removed {
            self.lost(&name);
        }
    }

    fn found(&mut self, loaded: LoadedPlugin) {
        let name = loaded.name().to_owned();
        let is_loaded = self.entries.get(&name).is_some_and(|entry| entry.loaded.is_some());
        if is_loaded {
            // Its content is that of the mapped library: another build is an error of the loader.
            self.has_its_file_again(&name);
        } else {
            tracing::info!(
                plugin = name,
                version = loaded.manifest.version,
                sha256 = loaded.sha256(),
                "found in the folder"
            );
            self.add(loaded);
        }
    }

    fn has_its_file_again(&mut self, name: &str) {
        let off = self.off_reason(name).to_owned();
        let Some(entry) = self.entries.get_mut(name) else { return };
        entry.file = FileState::Unchanged;
        if matches!(entry.state, PluginState::NeedsRestart | PluginState::Gone) {
            (entry.state, entry.reason) = (PluginState::Disabled, off);
        }
    }

    fn found_unusable(&mut self, report: PluginReport) {
        let name = report.name.clone();
        match self.entries.get_mut(&name) {
            Some(entry) if entry.loaded.is_some() => {
                entry.file = match report.file_sha256 {
                    Some(sha256) => FileState::Replaced { sha256 },
                    None => FileState::Unusable { reason: report.reason },
                };
                tracing::warn!(plugin = name, file = ?entry.file, "the file of a plugin that is loaded has changed");
            }
            Some(entry) if entry.reason == report.reason => {}
            _ => self.add_refused(report),
        }
    }

    fn lost(&mut self, name: &str) {
        match self.entries.get_mut(name) {
            Some(entry) if entry.loaded.is_some() => {
                tracing::warn!(plugin = name, "its file is gone");
                entry.file = FileState::Removed { tables: Vec::new() };
            }
            _ => drop(self.entries.remove(name)),
        }
    }

    /// The plugins that have migrated this database and have no file.
    fn without_file(&self, applied: &[AppliedMigration]) -> BTreeSet<String> {
        let has_file =
            |name: &str| self.entries.get(name).is_some_and(|entry| !matches!(entry.file, FileState::Removed { .. }));
        let owners = applied.iter().map(|migration| migration.plugin.as_str());
        owners.filter(|name| *name != crate::routes::HOST && !has_file(name)).map(str::to_owned).collect()
    }

    fn set_gone(&mut self, gone: BTreeMap<String, PluginReport>) {
        self.gone.clear();
        for (name, found) in gone {
            match self.entries.get_mut(&name).map(|entry| &mut entry.file) {
                Some(FileState::Removed { tables }) => *tables = found.tables,
                _ => drop(self.gone.insert(name, found)),
            }
        }
    }
}
