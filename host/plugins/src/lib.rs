//! Plugins: load their libraries, call them, lend them capabilities, contain their faults.
//!
//! The rule: a bad plugin is a line in a report, never an outage.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod abi_transaction;
mod active_plugin;
mod active_plugins;
pub mod bounds;
mod breaker;
mod call_depth;
mod capabilities;
mod capability_context;
mod charge;
pub mod collisions;
mod commit_error;
mod contained_call;
mod contributions;
pub mod crash_record;
mod declared_outputs;
mod doorkeeper;
mod fetch;
mod handle;
mod index_position;
pub mod job;
pub mod loading;
mod local_file;
mod log_subscription;
mod lost_commit;
mod owned_object;
pub mod polls;
mod presences;
mod provider_transaction;
pub mod queue;
mod refused_transaction;
mod report;
mod services;
mod state;
mod topic;
mod transaction;
mod transaction_context;
mod write_admission;
mod write_guard;

#[cfg(test)]
mod fuzz;

pub use active_plugin::{ActivePlugin, CHAIN_EVENTS, InFlightGuard, PluginOperations};
pub use active_plugins::{ActivePlugins, ActiveSet, dependencies_of};
pub use breaker::{FaultLimit, PausedOperation};
pub use capabilities::Capabilities;
pub use capability_context::CapabilityContext;
pub use charge::{ChargeOutcome, RequestCharge};
pub use commit_error::CommitError;
pub use contained_call::{CallError, ContainedCall};
pub use contributions::{Contribution, ExtensionPoints};
pub use doorkeeper::Doorkeeper;
pub use handle::{ContainmentCause, ContainmentRequest, PluginHandle, PluginOperation};
pub use loading::{
    DiscoverError, FolderChanges, InspectProblem, LoadError, LoadOutcome, LoadedPlugin, PendingLibrary, PluginError,
    PluginFile, PluginFolder, discover, inspect, library_probe, load_folder, missing_consent, open,
};
pub use log_subscription::{MIGRATION as LOG_SUBSCRIPTIONS_MIGRATION, forget as forget_log_subscriptions};
pub use lost_commit::{FORGET_ATTEMPTS, attempt_rows_migration};
pub use owned_object::OwnedObject;
pub use presences::{PluginNames, PluginPresences};
pub use refused_transaction::{refused_transaction, undeclared_transaction};
pub use report::PluginReport;
pub use services::call_own_service;
pub use state::PluginState;
pub use topic::render;
pub use transaction::{CommitMode, PluginTransaction};
pub use transaction_context::TransactionContext;
pub use write_admission::WriteAdmission;
pub use write_guard::{IntervalClock, MIGRATION, SignedWriteRecord, attempt_migration, by_time_migration};
