//! The folder of plugins: every library in it, read, checked and loaded, and what has changed in it since.
//!
//! The rule: a file that is not the one that was read the last time gets every check of a start, whenever it is found. An
//! unchanged one is not even read. They are loaded one after the other, so that the death of the process names one of them; but a
//! library that takes long does not keep the others waiting.

use super::{
    discover::{DiscoverError, FoundLibrary, discover},
    folder_permissions::warn_of_other_writers,
    inspect,
    pending_library::{LoadOutcome, PendingLibrary},
};
use gateway_config::{Config, FileIdentity};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    time::{Duration, Instant},
};

/// How long the other libraries wait for one.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long those that were left behind are waited for, after the last one that came.
const LAST_PATIENCE: Duration = Duration::from_secs(2);

pub struct PluginFolder {
    path: PathBuf,
    /// Whether it is the folder of the gateway's binary, which may have libraries that have nothing to do with the gateway.
    is_of_binary: bool,
    /// By file name, what was read the last time.
    files: BTreeMap<String, ReadFile>,
}

/// What a look at the folder found.
#[derive(Default)]
pub struct FolderChanges {
    /// Of the files that are new, have changed, or were refused the last time.
    pub outcomes: Vec<LoadOutcome>,
    /// Those that still load.
    pub pending: Vec<PendingLibrary>,
    /// The plugins whose files are not there any more.
    pub removed: Vec<String>,
}

struct ReadFile {
    plugin: String,
    identity: Option<FileIdentity>,
    is_loaded: bool,
}

impl PluginFolder {
    /// The folder that the configuration names; nothing in it is read yet.
    pub fn of(config: &Config) -> Result<Self, DiscoverError> {
        let path = config
            .plugins
            .folder()
            .map_err(|source| DiscoverError { dir: "the folder of the gateway's binary".into(), source })?;
        Ok(Self { path, is_of_binary: config.plugins.dir.is_none(), files: BTreeMap::new() })
    }

    /// Reads, checks and loads what has changed since the last call: at first everything. With `only`, the file of this plugin.
    pub fn changes(&mut self, config: &Config, only: Option<&str>) -> Result<FolderChanges, DiscoverError> {
        let is_meant = |plugin: &str| only.is_none_or(|only| only == plugin);
        let mut candidates = self.candidates()?;
        candidates.retain(|candidate| is_meant(candidate.name()));
        let is_there = |plugin: &str| candidates.iter().any(|candidate| candidate.name() == plugin);
        let gone = |file: &ReadFile| is_meant(&file.plugin) && !is_there(&file.plugin);
        let mut removed: Vec<String> =
            self.files.values().filter(|file| gone(file)).map(|f| f.plugin.clone()).collect();
        removed.dedup();
        self.files.retain(|_, file| !removed.contains(&file.plugin));
        candidates.retain(|candidate| self.must_be_read(candidate));
        if self.files.is_empty() || !candidates.is_empty() {
            warn_of_other_writers(&self.path, &candidates);
        }
        let (mut outcomes, mut pending) = (Vec::new(), Vec::new());
        for candidate in candidates {
            match self.read(candidate, config) {
                Ok(outcome) => outcomes.push(outcome),
                Err(library) => pending.push(library),
            }
        }
        let waiting = std::mem::take(&mut pending);
        let mut until = Instant::now() + LAST_PATIENCE;
        for library in waiting {
            let patience = library.elapsed() + until.saturating_duration_since(Instant::now());
            match library.end_within(patience) {
                Ok(outcome) => {
                    outcomes.push(outcome);
                    until = Instant::now() + LAST_PATIENCE;
                }
                Err(library) => pending.push(library),
            }
        }
        sort(&mut outcomes);
        Ok(FolderChanges { outcomes, pending, removed })
    }

    /// Whether there is a file that the plugin could be loaded from.
    pub fn has(&self, plugin: &str) -> Result<bool, DiscoverError> {
        Ok(self.candidates()?.iter().any(|candidate| candidate.name() == plugin))
    }

    fn candidates(&self) -> Result<Vec<FoundLibrary>, DiscoverError> {
        let mut candidates = discover(&self.path)?;
        if self.is_of_binary {
            candidates.retain(|candidate| !inspect::is_foreign_library(&candidate.path));
        }
        Ok(candidates)
    }

    /// A file that was refused is read again: the reason may have been a pin, or a copy that was half done.
    fn must_be_read(&self, candidate: &FoundLibrary) -> bool {
        let file = self.files.get(&candidate.file_name);
        file.is_none_or(|file| !file.is_loaded || file.identity != FileIdentity::of(&candidate.path))
    }

    /// What became of a file, or its library that still loads: that is not begun again while the file is the same.
    fn read(&mut self, candidate: FoundLibrary, config: &Config) -> Result<LoadOutcome, PendingLibrary> {
        // Before the content, so that a change meanwhile is found the next time.
        let identity = FileIdentity::of(&candidate.path);
        let (plugin, file_name) = (candidate.name().to_owned(), candidate.file_name.clone());
        let read = match PendingLibrary::begin(candidate, config) {
            Ok(library) => library.end_within(PATIENCE),
            Err(refused) => Ok(Err(refused)),
        };
        let is_loaded = read.as_ref().map_or(true, Result::is_ok);
        self.files.insert(file_name, ReadFile { plugin, identity, is_loaded });
        read
    }
}

/// Reads, checks and loads every library of the folder; the outcomes are in the order of their names.
pub fn load_folder(config: &Config) -> Result<Vec<LoadOutcome>, DiscoverError> {
    let FolderChanges { mut outcomes, pending, .. } = PluginFolder::of(config)?.changes(config, None)?;
    outcomes.extend(pending.into_iter().map(PendingLibrary::wait_blocking));
    sort(&mut outcomes);
    Ok(outcomes)
}

/// Documents that list plugins must not depend on which one took long.
fn sort(outcomes: &mut [LoadOutcome]) {
    let name = |outcome: &LoadOutcome| match outcome {
        Ok(loaded) => loaded.name().to_owned(),
        Err(report) => report.name.clone(),
    };
    outcomes.sort_by_cached_key(name);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::fs;

    /// What was read, and whose file is gone. No library of these is a plugin, so each is a refusal.
    fn changes(folder: &mut PluginFolder, config: &Config, only: Option<&str>) -> (Vec<String>, Vec<String>) {
        let FolderChanges { outcomes, removed, .. } = folder.changes(config, only).unwrap();
        (outcomes.into_iter().map(|outcome| outcome.err().unwrap().name).collect(), removed)
    }

    #[test]
    fn what_was_refused_is_read_again_and_what_is_gone_is_named_once() {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        (config.plugins.dir, config.data_dir) = (Some(dir.path().to_owned()), dir.path().join("data"));
        let mut folder = PluginFolder::of(&config).unwrap();
        let none = || (Vec::<String>::new(), Vec::<String>::new());
        assert_eq!(changes(&mut folder, &config, None), none());

        fs::write(dir.path().join("libforum.so"), "half of it").unwrap();
        fs::write(dir.path().join("libagents.so"), "half of it").unwrap();
        assert_eq!(changes(&mut folder, &config, Some("forum")), (vec!["forum".to_owned()], vec![]));
        assert_eq!(changes(&mut folder, &config, None).0, ["agents", "forum"]);
        assert!(folder.has("forum").unwrap() && !folder.has("work").unwrap());

        fs::remove_file(dir.path().join("libforum.so")).unwrap();
        assert_eq!(changes(&mut folder, &config, Some("agents")).1, Vec::<String>::new(), "it was not asked for");
        assert_eq!(changes(&mut folder, &config, None).1, ["forum"]);
        assert_eq!(changes(&mut folder, &config, None).1, Vec::<String>::new());
    }
}
