//! Plugins: from a file in a folder to a module with a checked manifest.
//!
//! discover (which files) → inspect (what a file says about itself) → load (map a private copy, check the layout) →
//! manifest (what the plugin offers) → open, serve, drain (`manager.rs`). The rule: none of its code runs before the
//! inspection has passed, and a bad plugin is a line in a report, never an outage.

mod active;
mod capabilities;
mod contribution_cache;
mod copy;
pub mod discover;
mod handle;
mod host_context;
pub mod inspect;
pub mod job;
pub mod load;
mod load_folder;
pub mod loaded;
pub mod report;
mod transaction;
pub mod validate;

#[cfg(test)]
mod fuzz;

pub use active::{ActivePlugin, ActivePlugins, Contribution, InFlightGuard, collect, contribution, dependencies_of};
pub use capabilities::Capabilities;
pub use contribution_cache::ContributionCache;
pub use discover::{Candidate, DiscoverError, discover};
pub use handle::{FaultLimit, FenceRequest, PluginHandle};
pub use host_context::HostContext;
pub use inspect::{InspectError, InspectProblem, Inspection, PluginFile, inspect, open};
pub use load::LoadError;
pub use load_folder::load_folder;
pub use loaded::{LoadedPlugin, PluginError};
pub use report::{PluginReport, PluginState};
pub use transaction::{CommitError, GUARD_MIGRATION, Guard, Owner, PluginTransaction, read_event};
pub use validate::validate_manifest;
