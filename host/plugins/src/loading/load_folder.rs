//! Every library of the folder of plugins, read, checked and loaded.

use super::{
    discover::{DiscoverError, discover},
    folder_permissions::warn_of_other_writers,
    inspect,
    loaded::{LoadedPlugin, PluginError},
};
use crate::{
    PluginReport, PluginState,
    crash_record::{StartPhase, start_mark, why_skipped},
};
use gateway_config::Config;

/// Reads, checks and loads every library of the folder.
pub fn load_folder(config: &Config) -> Result<Vec<Result<LoadedPlugin, Box<PluginReport>>>, DiscoverError> {
    let folder = config
        .plugins
        .folder()
        .map_err(|source| DiscoverError { dir: "the folder of the gateway's binary".into(), source })?;
    let mut candidates = discover(&folder)?;
    if config.plugins.dir.is_none() {
        // The folder of the binary may have libraries that have nothing to do with the gateway.
        candidates.retain(|candidate| !inspect::is_foreign_library(&candidate.path));
    }
    warn_of_other_writers(&folder, &candidates);
    let outcomes = candidates.into_iter().map(|candidate| {
        let pin = config.plugins.settings(candidate.name()).sha256;
        let file = inspect::open(&candidate.path, pin.as_deref()).map_err(PluginError::from);
        if let Ok(file) = &file
            && let Some(reason) = why_skipped(candidate.name(), Some(&file.inspection.sha256), StartPhase::Load)
        {
            return Err(Box::new(PluginReport::named(candidate.name(), PluginState::Failed, reason)));
        }
        let loaded = file.and_then(|file| {
            let _mark = start_mark(candidate.name(), Some(&file.inspection.sha256), StartPhase::Load);
            LoadedPlugin::load(&file, &config.data_dir)
        });
        loaded.map_err(|error| Box::new(PluginReport::of_error(candidate.name(), &error)))
    });
    Ok(outcomes.collect())
}
