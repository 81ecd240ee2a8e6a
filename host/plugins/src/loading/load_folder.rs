//! Every library of the folder of plugins, read, checked and loaded.
//!
//! The rule: one after the other, so that the death of the process names one of them; but a library that takes long does not
//! keep the others waiting.

use super::{
    discover::{Candidate, DiscoverError, discover},
    folder_permissions::warn_of_other_writers,
    inspect,
    loaded::{LoadedPlugin, PluginError},
};
use crate::{
    PluginReport, PluginState,
    crash_record::{StartPhase, start_mark, why_skipped},
    polls::{CallEnd, DetachedCall},
};
use gateway_config::Config;
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

pub type LoadOutcome = Result<LoadedPlugin, Box<PluginReport>>;

/// For the trial of a library. Loading one takes milliseconds.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The result of the trial says more, so it comes first.
const TRIAL_AND_LOAD_TIMEOUT: Duration = Duration::from_secs(15);
/// How long the other libraries wait for one.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long the start waits for those that were left behind, after the last one that came.
const LAST_PATIENCE: Duration = Duration::from_secs(2);

/// What has become of the libraries of a folder so far.
pub struct FolderLoad {
    pub outcomes: Vec<LoadOutcome>,
    /// Those that still load.
    pub late: Vec<LateLibrary>,
}

/// A library whose code has not returned yet.
pub struct LateLibrary {
    pub name: String,
    call: DetachedCall<LoadOutcome>,
}

/// Reads, checks and loads every library of the folder; the outcomes are in the order of their names.
pub fn load_folder(config: &Config) -> Result<Vec<LoadOutcome>, DiscoverError> {
    let FolderLoad { mut outcomes, late } = begin_load_folder(config)?;
    outcomes.extend(late.into_iter().map(LateLibrary::wait_blocking));
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

/// As [`load_folder`]; a library that hangs delays this for two seconds or three, and its own outcome comes later.
pub fn begin_load_folder(config: &Config) -> Result<FolderLoad, DiscoverError> {
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
    let (mut outcomes, mut late) = (Vec::new(), Vec::new());
    for candidate in candidates {
        match LateLibrary::begin(candidate, config) {
            Ok(library) => match library.end_within(PATIENCE) {
                Ok(outcome) => outcomes.push(outcome),
                Err(library) => late.push(library),
            },
            Err(refused) => outcomes.push(Err(refused)),
        }
    }
    let waiting = std::mem::take(&mut late);
    let mut until = Instant::now() + LAST_PATIENCE;
    for library in waiting {
        let patience = library.call.elapsed() + until.saturating_duration_since(Instant::now());
        match library.end_within(patience) {
            Ok(outcome) => {
                outcomes.push(outcome);
                until = Instant::now() + LAST_PATIENCE;
            }
            Err(library) => late.push(library),
        }
    }
    sort(&mut outcomes);
    Ok(FolderLoad { outcomes, late })
}

/// What a library is loaded with.
struct LoadRequest {
    candidate: Candidate,
    pin: Option<String>,
    data_dir: PathBuf,
}

impl LoadRequest {
    fn load(&self) -> LoadOutcome {
        let name = self.candidate.name();
        let file = inspect::open(&self.candidate.path, self.pin.as_deref()).map_err(PluginError::from);
        if let Ok(file) = &file
            && let Some(reason) = why_skipped(name, Some(&file.inspection.sha256), StartPhase::Load)
        {
            return Err(Box::new(PluginReport::named(name, PluginState::Failed, reason)));
        }
        let loaded = file.and_then(|file| {
            LoadedPlugin::try_elsewhere(&file, &self.data_dir, TIMEOUT)?;
            let _mark = start_mark(name, Some(&file.inspection.sha256), StartPhase::Load);
            LoadedPlugin::load(&file, &self.data_dir)
        });
        loaded.map_err(|error| Box::new(PluginReport::of_error(name, &error)))
    }
}

impl LateLibrary {
    fn begin(candidate: Candidate, config: &Config) -> Result<Self, Box<PluginReport>> {
        let name = candidate.name().to_owned();
        let pin = config.plugins.settings(&name).sha256;
        let request = LoadRequest { candidate, pin, data_dir: config.data_dir.clone() };
        match DetachedCall::start(&name, move || request.load()) {
            Ok(call) => Ok(Self { name, call }),
            Err(error) => {
                let reason = format!("no thread can be started to load it: {error}");
                Err(Box::new(PluginReport::named(&name, PluginState::Failed, reason)))
            }
        }
    }

    /// Its outcome, or itself when it has none within `patience` after its begin.
    fn end_within(self, patience: Duration) -> Result<LoadOutcome, Self> {
        match self.call.wait_blocking(patience) {
            Some(end) => Ok(self.outcome(Some(end))),
            None => Err(self),
        }
    }

    fn wait_blocking(self) -> LoadOutcome {
        let end = self.call.wait_blocking(TRIAL_AND_LOAD_TIMEOUT);
        self.outcome(end)
    }

    /// Waits for its outcome, within its time limit.
    pub async fn wait(self) -> LoadOutcome {
        let end = self.call.wait(TRIAL_AND_LOAD_TIMEOUT).await;
        self.outcome(end)
    }

    fn outcome(&self, end: Option<CallEnd<LoadOutcome>>) -> LoadOutcome {
        let failed = |reason: String| Err(Box::new(PluginReport::named(&self.name, PluginState::Failed, reason)));
        match end {
            Some(CallEnd::Returned(outcome)) => outcome,
            Some(CallEnd::Panicked) => failed("loading it ended badly: the log says where".to_owned()),
            None => failed(format!("its library and its manifest were not loaded within {TRIAL_AND_LOAD_TIMEOUT:?}")),
        }
    }
}
