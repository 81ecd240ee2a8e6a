//! A plugin as the gateway holds it: its handle for each start, its object while it serves, and what operators are told of it.

mod active_plugin;
mod active_plugins;
mod breaker;
mod contained_call;
mod handle;
mod owned_object;
mod report;
mod state;

pub use active_plugin::{ActivePlugin, CHAIN_EVENTS, InFlightGuard, PluginOperations};
pub use active_plugins::{ActivePlugins, ActiveSet, dependencies_of};
pub use breaker::{FaultLimit, PausedOperation};
pub use contained_call::{CallError, ContainedCall};
pub use handle::{ContainmentCause, ContainmentRequest, PluginHandle, PluginOperation};
pub(crate) use handle::{cut, invalid_contribution};
pub use owned_object::OwnedObject;
pub use report::PluginReport;
pub use state::PluginState;
