//! Commands of operators on one plugin while the gateway serves: enable, disable, resume, reindex.
//!
//! The rule: the result is the plugin's report after the work is done, and a command that did not reach its state says
//! why.

use super::{
    manager::PluginManager,
    registry::{InactiveReason, OFF_BY_CONFIGURATION, PluginRegistry},
};
use crate::operators::PluginHistory;
use futures_util::future::BoxFuture;
use gateway_config::Config;
use gateway_plugins::{PausedOperation, PluginReport, PluginState, crash_record};
use gateway_storage::StorageError;
use jiff::Timestamp;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorAction {
    /// Serve, from now on and after every start.
    Enable,
    /// Do not serve, from now on and after every start.
    Disable,
    /// Serve again after having been fenced or having failed, with all operations.
    Resume,
    /// Empty its derived tables and derive them from the chain again.
    Reindex,
}

impl OperatorAction {
    pub const ALL: [Self; 4] = [Self::Enable, Self::Disable, Self::Resume, Self::Reindex];

    /// As on the wire and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::Resume => "resume",
            Self::Reindex => "reindex",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }

    /// A file that was replaced or removed takes nothing from a plugin that serves; who enables it wants the new one.
    const fn is_reached(self, report: &PluginReport) -> bool {
        match self {
            Self::Enable => matches!(report.state, PluginState::Serving),
            Self::Resume | Self::Reindex => report.serves,
            Self::Disable => matches!(report.state, PluginState::Disabled | PluginState::Gone),
        }
    }
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperateOutcome {
    /// The plugin afterwards; its reason also says why the command was refused.
    pub report: PluginReport,
    pub is_reached: bool,
}

/// Why a command was refused before it was tried.
#[derive(Debug, thiserror::Error)]
pub enum OperateError {
    #[error("there is no plugin {0:?} in the folder of the plugins")]
    Unknown(String),
    #[error("the gateway is stopping")]
    Closing,
    #[error("the decision cannot be stored, so nothing was changed: {0}")]
    Storage(#[from] StorageError),
}

impl PluginManager {
    /// Runs the command to its end. Do not drop the future half way: spawn it as a task.
    pub fn operate<'a>(
        &'a self,
        action: OperatorAction,
        name: &'a str,
        who: &'a str,
    ) -> BoxFuture<'a, Result<OperateOutcome, OperateError>> {
        Box::pin(self.run_action(action, name, who))
    }

    async fn run_action(&self, action: OperatorAction, name: &str, who: &str) -> Result<OperateOutcome, OperateError> {
        let (before, refusal) = self.act(action, name, who).await?;
        // Its constructor may take long.
        self.settled(&BTreeSet::from([name.to_owned()])).await;
        let mut report = self.registry.lock().report(name).unwrap_or(before);
        let is_reached = refusal.is_none() && action.is_reached(&report);
        if let Some(refusal) = refusal {
            report.reason = refusal;
        }
        Ok(OperateOutcome { report, is_reached })
    }

    /// The plugin before the command, and why the command was refused.
    async fn act(
        &self,
        action: OperatorAction,
        name: &str,
        who: &str,
    ) -> Result<(PluginReport, Option<String>), OperateError> {
        let _transition = self.changes.lock().await;
        if self.registry.lock().is_closed() {
            return Err(OperateError::Closing);
        }
        if action == OperatorAction::Enable {
            let config = self.registry.lock().latest_config();
            self.look_at_folder(config.as_deref().unwrap_or(self.config()), Some(name)).await;
        }
        let before = self.registry.lock().report_of_any(name).ok_or_else(|| OperateError::Unknown(name.to_owned()))?;
        if !self.registry.lock().is_there(name) {
            let reason = before.reason.clone();
            return Ok((before, Some(reason)));
        }
        if matches!(action, OperatorAction::Enable | OperatorAction::Resume) {
            crash_record::clear(name);
        }
        let refusal = match action {
            OperatorAction::Enable => self.enable(name, who).await?,
            OperatorAction::Disable => self.disable(name, who).await?,
            OperatorAction::Resume => self.resume(&before).await,
            OperatorAction::Reindex => self.reindex(name).await?,
        };
        Ok((before, refusal))
    }

    /// Reads the operators' decisions, before plugins start or the configuration is applied again.
    pub async fn load_switches(&self) -> Result<(), StorageError> {
        let switches = self.parts.operators.switches().await?;
        self.registry.lock().set_switches(switches);
        Ok(())
    }

    /// Takes over the decisions that other gateways on this database have stored since.
    pub(crate) fn follow_switches(&self) -> BoxFuture<'_, Result<(), StorageError>> {
        Box::pin(async move {
            let switches = self.parts.operators.switches().await?;
            if self.registry.lock().has_switches(&switches) {
                return Ok(());
            }
            let _transition = self.changes.lock().await;
            if self.registry.lock().is_closed() {
                return Ok(());
            }
            // Again: an operator may have decided here while this waited.
            let switches = self.parts.operators.switches().await?;
            let changed = self.registry.lock().replace_switches(switches);
            for name in changed {
                self.apply_switch(&name).await;
            }
            Ok(())
        })
    }

    async fn apply_switch(&self, name: &str) {
        let config = self.registry.lock().latest_config();
        let config = config.as_deref().unwrap_or(self.config());
        let is_wanted = self.registry.lock().wanted(config).contains(name);
        tracing::info!(plugin = name, on = is_wanted, "an operator switched it at another gateway");
        if is_wanted {
            crash_record::clear(name);
            self.look_at_folder(config, Some(name)).await;
            self.start_with_waiting(name).await;
        } else if self.registry.lock().is_loaded(name) {
            let reason = self.registry.lock().off_reason(name);
            self.stop_plugin(name, PluginState::Disabled, reason).await;
        }
    }

    /// What a dry run takes for the operators' decisions and for who came earlier: its own database says nothing.
    pub(crate) fn assume(&self, history: PluginHistory) {
        let mut registry = self.registry.lock();
        registry.set_switches(history.switches);
        registry.first_migrations_s = history.first_migrations_s;
    }

    async fn enable(&self, name: &str, who: &str) -> Result<Option<String>, OperateError> {
        self.decide(name, true, who).await?;
        self.start_with_waiting(name).await;
        let report = self.registry.lock().report(name);
        let fenced = report.filter(|report| report.state == PluginState::Fenced);
        Ok(fenced.map(|report| format!("{}; resume it to start it again", report.reason)))
    }

    async fn disable(&self, name: &str, who: &str) -> Result<Option<String>, OperateError> {
        let needed_by = self.registry.lock().serving_dependents(name);
        if !needed_by.is_empty() {
            return Ok(Some(format!("{} requires it: disable that first", needed_by.join(", "))));
        }
        self.decide(name, false, who).await?;
        if self.registry.lock().is_loaded(name) {
            let reason = self.registry.lock().off_reason(name);
            self.stop_plugin(name, PluginState::Disabled, reason).await;
        }
        Ok(None)
    }

    async fn resume(&self, before: &PluginReport) -> Option<String> {
        let name = before.name.as_str();
        match before.state {
            PluginState::Fenced | PluginState::Failed if self.registry.lock().is_loaded(name) => {}
            PluginState::Disabled => return Some(format!("{}; enable it to start it", before.reason)),
            _ if before.serves => {
                self.registry.lock().resume_operations(name);
                return None;
            }
            // There is nothing to start.
            _ => return None,
        }
        let reason = "being resumed by an operator".to_owned();
        // Its routes stay and respond 503 until the new ones replace them.
        self.registry.lock().note(name, InactiveReason { state: PluginState::Stopped, reason });
        self.start_with_waiting(name).await;
        let state = self.registry.lock().report(name).map(|report| report.state);
        if !matches!(state, Some(PluginState::Serving | PluginState::Starting)) {
            self.unmount(name).await;
        }
        None
    }

    /// The gateway that holds the index's lease sees the change with its next poll.
    async fn reindex(&self, name: &str) -> Result<Option<String>, StorageError> {
        let has_index = gateway_indexer::IndexStore::request_reindex(&self.transactions().database, name).await?;
        Ok((!has_index).then(|| "it has no index of a chain".to_owned()))
    }

    async fn decide(&self, name: &str, enabled: bool, who: &str) -> Result<(), StorageError> {
        self.parts.operators.switch(name, enabled, self.transactions().clock.now_ms(), who).await?;
        self.registry.lock().set_switch(name, enabled);
        Ok(())
    }

    /// Starts a plugin, and those that failed because it did not serve.
    pub(super) async fn start_with_waiting(&self, name: &str) {
        self.start_beside(name, true).await;
    }

    /// Starts the plugins that failed because this one did not serve.
    pub(super) async fn start_waiting(&self, name: &str) {
        self.start_beside(name, false).await;
    }

    async fn start_beside(&self, name: &str, is_included: bool) {
        let (config, mut names) = {
            let registry = self.registry.lock();
            let config = registry.latest_config();
            (config.clone(), registry.waiting_for(name, config.as_deref().unwrap_or(self.config())))
        };
        if is_included {
            names.insert(name.to_owned());
        }
        self.start_all(&names, config.as_deref().unwrap_or(self.config())).await;
    }
}

impl PluginRegistry {
    pub(crate) fn report(&self, name: &str) -> Option<PluginReport> {
        let mut report = self.entries.get(name)?.current_report();
        if !report.paused.is_empty() {
            report.reason = report.paused.iter().map(pause_line).collect::<Vec<_>>().join("; ");
        }
        if report.reason.is_empty() {
            report.reason = self.memory_note(name).unwrap_or_default();
        }
        let died_in = crash_record::running_at_death(name);
        if report.reason.is_empty() && !died_in.is_empty() {
            report.reason = format!("was running when the gateway died the last time: {}", died_in.join(", "));
        }
        if report.state == PluginState::Serving && report.reason.is_empty() {
            report.reason = self.missing_services(name).join("; ");
        }
        if report.state == PluginState::Serving && report.reason.is_empty() && self.switch(name) == Some(true) {
            report.reason = ON_BY_OPERATOR.to_owned();
        }
        self.entries.get(name)?.file.describe(&mut report);
        Some(report)
    }

    fn memory_note(&self, name: &str) -> Option<String> {
        self.entries.get(name)?.running.as_ref()?.handle.memory_note()
    }

    fn resume_operations(&self, name: &str) {
        if let Some(running) = self.entries.get(name).and_then(|entry| entry.running.as_ref()) {
            running.handle.resume_operations();
        }
    }

    pub(super) fn off_reason(&self, name: &str) -> &'static str {
        if self.switch(name) == Some(false) { OFF_BY_OPERATOR } else { OFF_BY_CONFIGURATION }
    }

    /// Not so for a plugin that left its tables and nothing else.
    fn is_there(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    fn is_loaded(&self, name: &str) -> bool {
        self.entries.get(name).is_some_and(|entry| entry.loaded.is_some())
    }

    fn serving_dependents(&self, name: &str) -> Vec<String> {
        let requires = |other: &str| self.requirements(other).iter().any(|required| required == name);
        let serving = self.entries.iter().filter(|(_, entry)| entry.running.is_some());
        serving.map(|(other, _)| other.clone()).filter(|other| requires(other)).collect()
    }

    fn waiting_for(&self, name: &str, config: &Config) -> BTreeSet<String> {
        let wanted = self.wanted(config);
        let failed = |other: &String| self.entries.get(other).is_some_and(|entry| entry.state == PluginState::Failed);
        let waits = |other: &String| failed(other) && self.requirements(other).iter().any(|required| required == name);
        wanted.into_iter().filter(waits).collect()
    }
}

/// For the operator: what is paused, until when and why.
fn pause_line(paused: &PausedOperation) -> String {
    let until = Timestamp::from_millisecond(paused.until_ms).unwrap_or_default().strftime("%F %T");
    format!("{} is paused until {until} UTC: {}", paused.operation, paused.reason)
}

/// Also in the table that `gateway plugins list` prints.
pub const OFF_BY_OPERATOR: &str = "switched off by an operator";
pub const ON_BY_OPERATOR: &str = "switched on by an operator";
