//! A library that is being read, checked and loaded, on a thread of its own: its code may take long.

use super::{
    discover::FoundLibrary,
    inspect,
    loaded::{LoadedPlugin, PluginError},
};
use crate::{
    crash_record::{StartPhase, start_mark, why_skipped},
    plugin::{PluginReport, PluginState},
    polls::{CallEnd, DetachedCall},
};
use gateway_config::Config;
use std::{path::PathBuf, time::Duration};

/// What became of one file: a plugin, or the reason why it is none.
pub type LoadOutcome = Result<LoadedPlugin, Box<PluginReport>>;

/// Loading a library takes milliseconds.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// The result of the probe says more, so it comes first.
const PROBE_AND_LOAD_TIMEOUT: Duration = Duration::from_secs(15);

/// A library whose code has not returned yet.
pub struct PendingLibrary {
    pub name: String,
    call: DetachedCall<LoadOutcome>,
}

/// What a library is loaded with.
struct LoadRequest {
    candidate: FoundLibrary,
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
            LoadedPlugin::probe(&file, &self.data_dir, PROBE_TIMEOUT)?;
            let _mark = start_mark(name, Some(&file.inspection.sha256), StartPhase::Load);
            LoadedPlugin::load(&file, &self.data_dir)
        });
        loaded.map_err(|error| Box::new(PluginReport::of_error(name, &error)))
    }
}

impl PendingLibrary {
    pub(super) fn begin(candidate: FoundLibrary, config: &Config) -> Result<Self, Box<PluginReport>> {
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

    /// Since its begin.
    pub(super) fn elapsed(&self) -> Duration {
        self.call.elapsed()
    }

    /// Its outcome, or itself when it has none within `patience` after its begin.
    pub(super) fn end_within(self, patience: Duration) -> Result<LoadOutcome, Self> {
        match self.call.wait_blocking(patience) {
            Some(end) => Ok(self.outcome(Some(end))),
            None => Err(self),
        }
    }

    pub(super) fn wait_blocking(self) -> LoadOutcome {
        let end = self.call.wait_blocking(PROBE_AND_LOAD_TIMEOUT);
        self.outcome(end)
    }

    /// Waits for its outcome, within its time limit.
    pub async fn wait(self) -> LoadOutcome {
        let end = self.call.wait(PROBE_AND_LOAD_TIMEOUT).await;
        self.outcome(end)
    }

    fn outcome(&self, end: Option<CallEnd<LoadOutcome>>) -> LoadOutcome {
        let failed = |reason: String| Err(Box::new(PluginReport::named(&self.name, PluginState::Failed, reason)));
        match end {
            Some(CallEnd::Returned(outcome)) => outcome,
            Some(CallEnd::Panicked) => failed("loading it ended badly: the log says where".to_owned()),
            None => failed(format!("its library and its manifest were not loaded within {PROBE_AND_LOAD_TIMEOUT:?}")),
        }
    }
}
