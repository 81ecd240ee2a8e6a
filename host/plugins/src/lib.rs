//! Plugins: load their libraries, call them, lend them capabilities, contain their faults.
//!
//! The rule: a bad plugin is a line in a report, never an outage.

mod active_plugin;
mod active_plugins;
mod breaker;
mod capabilities;
mod contributions;
pub mod crash_record;
mod doorkeeper;
mod handle;
mod host_context;
pub mod job;
pub mod loading;
pub mod polls;
mod report;
mod state;
mod topic;
mod transaction;
mod write_guard;

#[cfg(test)]
mod fuzz;

pub use active_plugin::{ActivePlugin, InFlightGuard, PluginOperations};
pub use active_plugins::{ActivePlugins, ActiveSet, dependencies_of};
pub use breaker::{FaultLimit, PausedOperation};
pub use capabilities::Capabilities;
pub use contributions::{AuthorRecords, Contribution, ContributionCache};
pub use doorkeeper::Doorkeeper;
pub use handle::{FenceCause, FenceRequest, PluginHandle, PluginOperation};
pub use host_context::HostContext;
pub use loading::{
    DiscoverError, FileOutcome, FolderChanges, InspectProblem, LoadError, LoadedPlugin, PluginError, PluginFile,
    PluginFolder, discover, inspect, load_folder, missing_consent, open,
};
pub use report::PluginReport;
pub use state::PluginState;
pub use topic::render;
pub use transaction::{CommitError, PluginTransaction, TransactionOwner};
pub use write_guard::{IntervalClock, MIGRATION, WriteGuard, by_time_migration};
