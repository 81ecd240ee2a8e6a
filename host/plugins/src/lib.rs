//! Plugins: load their libraries, call them, lend them capabilities, contain their faults.
//!
//! The rule: a bad plugin is a line in a report, never an outage.

#![cfg_attr(not(test), warn(unreachable_pub))]

pub mod bounds;
mod calls;
mod capabilities;
mod contributions;
pub mod crash_record;
mod doorkeeper;
pub mod loading;
mod plugin;
pub mod polls;
mod transaction;

#[cfg(test)]
mod fuzz;

pub use calls::{call_own_service, queue_worker, render_topic, run_job};
pub use capabilities::{
    Capabilities, CapabilityContext, PluginNames, PluginPresences, forget_log_subscriptions,
    log_subscriptions_migration,
};
pub use contributions::{Contribution, ExtensionPoints};
pub use doorkeeper::Doorkeeper;
pub use loading::{
    DiscoverError, FolderChanges, InspectProblem, LoadError, LoadOutcome, LoadedPlugin, PendingLibrary, PluginError,
    PluginFile, PluginFolder, discover, inspect, library_probe, load_folder, missing_consent, open,
    set_released_plugins,
};
pub use plugin::{
    ActivePlugin, ActivePlugins, ActiveSet, CHAIN_EVENTS, CallError, ContainedCall, ContainmentCause,
    ContainmentRequest, FaultLimit, InFlightGuard, OwnedObject, PausedOperation, PluginHandle, PluginOperation,
    PluginOperations, PluginReport, PluginState, dependencies_of,
};
pub use transaction::{
    ChargeOutcome, CommitError, CommitMode, FORGET_ATTEMPTS, IntervalClock, PluginTransaction, RequestCharge,
    SignedWriteRecord, TransactionContext, WriteAdmission, attempts_migration, conflicts, guard_attempts_migration,
    guards_by_time_migration, guards_migration, refused_transaction, undeclared_transaction,
};
