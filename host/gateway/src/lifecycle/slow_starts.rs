//! Plugins whose library or constructor takes long: each goes on alone, and is mounted when it is ready.
//!
//! The rule: what was decided meanwhile counts. A plugin that was switched off is not mounted any more.

use super::{
    construction::Construction,
    manager::PluginManager,
    pending_starts::{CompletedStart, PendingStart},
    registry::{InactiveReason, PluginRegistry},
};
use gateway_plugins::{OwnedObject, PendingLibrary, PluginReport, PluginState, polls::DetachedCall};
use std::{collections::BTreeSet, time::Duration};

/// How long the start of the gateway waits for plugins whose start is pending, after the last one that came.
const START_PATIENCE: Duration = Duration::from_secs(2);

impl PluginManager {
    /// Waits in the background for a start that takes long, and finishes it.
    pub(super) fn await_start(&self, start: PendingStart) {
        let (manager, given_up) = (self.me.clone(), self.pending_starts.given_up());
        let starting = self.parts.routes.starting.add();
        tokio::spawn(async move {
            let ended = given_up.run_until_cancelled(start.end()).await;
            let Some(manager) = manager.upgrade() else { return };
            if let Some(ended) = ended {
                Box::pin(manager.finish_pending(ended)).await;
            }
            drop(starting);
            manager.pending_starts.note_end();
        });
    }

    /// Reports libraries that still load as starting, and starts each when it is there.
    pub async fn add_pending(&self, libraries: Vec<PendingLibrary>) {
        let _transition = self.changes.lock().await;
        self.await_libraries(libraries);
    }

    /// As [`Self::add_pending`], within a transition.
    pub(super) fn await_libraries(&self, libraries: Vec<PendingLibrary>) {
        for library in libraries {
            let reason = "its library has not been loaded yet: its own code takes long";
            tracing::warn!(plugin = library.name, "{reason}");
            let report = PluginReport::named(&library.name, PluginState::Starting, reason);
            self.registry.lock().add_unloaded(report);
            self.await_start(PendingStart::Library(library));
        }
    }

    /// Waits until none of these plugins, and none that they require, is starting any more.
    pub async fn settled(&self, names: &BTreeSet<String>) {
        let mut ended = self.pending_starts.subscribe();
        loop {
            let is_settled = {
                let _transition = self.changes.lock().await;
                let registry = self.registry.lock();
                registry.is_closed() || !registry.is_any_starting(names)
            };
            if is_settled || ended.changed().await.is_err() {
                return;
            }
        }
    }

    /// As [`Self::settled`], for all plugins, and only as long as one after the other comes.
    pub(super) async fn settled_soon(&self) {
        let mut ended = self.pending_starts.subscribe();
        while self.is_any_starting() {
            if tokio::time::timeout(START_PATIENCE, ended.changed()).await.is_err() {
                return;
            }
        }
    }

    fn is_any_starting(&self) -> bool {
        self.registry.lock().entries.values().any(|entry| entry.state == PluginState::Starting)
    }

    async fn finish_pending(&self, ended: CompletedStart) {
        let _transition = self.changes.lock().await;
        match ended {
            CompletedStart::Library(outcome) => {
                let name = self.registry.lock().add_outcome(outcome);
                if self.is_still_wanted(&name) {
                    self.start_with_waiting(&name).await;
                }
            }
            CompletedStart::Construction(construction, object) => {
                let is_awaited = self.registry.lock().is_awaited(&construction);
                match object {
                    Ok(object) if is_awaited && self.is_still_wanted(&construction.name) => {
                        self.finish_constructed(&construction, object).await;
                    }
                    Ok(object) => drop_elsewhere(&construction.name, object),
                    Err(inactive) if is_awaited => self.unmount_failed(&construction.name, inactive).await,
                    Err(_) => {}
                }
                self.registry.lock().forget_start(&construction);
            }
        }
    }

    async fn finish_constructed(&self, construction: &Construction, object: OwnedObject) {
        match self.finish_start(construction, object).await {
            Ok(()) => self.start_waiting(&construction.name).await,
            Err(inactive) => self.unmount_failed(&construction.name, inactive).await,
        }
    }

    /// The routes of a fenced plugin that was resumed respond 503 until now.
    async fn unmount_failed(&self, name: &str, inactive: InactiveReason) {
        self.unmount(name).await;
        self.note_failure(name, inactive);
    }

    fn is_still_wanted(&self, name: &str) -> bool {
        let registry = self.registry.lock();
        let latest = registry.latest_config();
        !registry.is_closed() && registry.wanted(latest.as_deref().unwrap_or(self.config())).contains(name)
    }
}

/// A drop is code of the plugin, which may hang.
fn drop_elsewhere(name: &str, object: OwnedObject) {
    if let Err(error) = DetachedCall::start(name, move || drop(object)) {
        tracing::error!(plugin = name, %error, "no thread can be started to drop it");
    }
}

impl PluginRegistry {
    /// Whether the plugin still waits for this constructor.
    fn is_awaited(&self, construction: &Construction) -> bool {
        let generation = construction.handle.generation;
        self.entries.get(&construction.name).is_some_and(|entry| {
            let is_latest = entry.handle.as_ref().is_some_and(|handle| handle.generation == generation);
            is_latest && entry.state == PluginState::Starting && !self.is_closed
        })
    }

    fn is_any_starting(&self, names: &BTreeSet<String>) -> bool {
        let (mut seen, mut open) = (BTreeSet::new(), names.iter().cloned().collect::<Vec<_>>());
        while let Some(name) = open.pop() {
            if self.entries.get(&name).is_some_and(|entry| entry.state == PluginState::Starting) {
                return true;
            }
            if seen.insert(name.clone()) {
                open.extend(self.requirements(&name));
            }
        }
        false
    }

    /// One that was switched off while it started does not start any more.
    fn forget_start(&mut self, construction: &Construction) {
        if self.is_awaited(construction) {
            let reason = self.off_reason(&construction.name).to_owned();
            self.note(&construction.name, InactiveReason { state: PluginState::Disabled, reason });
        }
    }
}
