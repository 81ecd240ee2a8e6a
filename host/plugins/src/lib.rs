//! Plugins: load their libraries, call them, lend them capabilities, contain their faults.
//!
//! The rule: a bad plugin is a line in a report, never an outage.

mod active_plugin;
mod active_plugins;
mod capabilities;
mod contributions;
mod doorkeeper;
mod handle;
mod host_context;
pub mod job;
pub mod loading;
mod report;
mod state;
mod transaction;
mod write_guard;

#[cfg(test)]
mod fuzz;

pub use active_plugin::{ActivePlugin, InFlightGuard};
pub use active_plugins::{ActivePlugins, dependencies_of};
pub use capabilities::Capabilities;
pub use contributions::{Contribution, ContributionCache, contribution};
pub use doorkeeper::Doorkeeper;
pub use handle::{FaultLimit, FenceRequest, PluginHandle};
pub use host_context::HostContext;
pub use loading::{
    DiscoverError, InspectProblem, LoadError, LoadedPlugin, PluginError, discover, inspect, load_folder, open,
};
pub use report::PluginReport;
pub use state::PluginState;
pub use transaction::{CommitError, PluginTransaction, TransactionOwner, read_event};
pub use write_guard::{MIGRATION, WriteGuard};
