//! What plugins call of the gateway: [`Capabilities`] is `abi::Host` for one plugin, and each file beside it one capability.

mod context;
mod fetch;
mod host;
mod index_position;
mod local_file;
pub(crate) mod log_subscription;
mod presences;
pub(crate) mod queue;

pub use context::CapabilityContext;
pub use host::Capabilities;
pub use log_subscription::{forget_log_subscriptions, log_subscriptions_migration};
pub use presences::{PluginNames, PluginPresences};
