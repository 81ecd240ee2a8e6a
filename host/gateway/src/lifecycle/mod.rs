//! The life of plugins: load → configure → order → migrate → mount → serve → drain → stopped.

mod construction;
mod file_state;
mod folder;
mod manager;
mod name_conflicts;
mod obstacles;
mod operate;
mod own_thread;
mod pending_starts;
mod presence;
mod purge_plugin;
mod registry;
mod service_types;
mod slow_starts;
mod start_plugins;
mod topics;

pub use folder::gone_report;
pub use manager::{PluginManager, PluginManagerParts, StartMode};
pub use operate::{OFF_BY_OPERATOR, ON_BY_OPERATOR, OperateError, OperateOutcome, OperatorAction};
pub use registry::{OFF_BY_CONFIGURATION, published_views, readable_views};
pub use topics::Topics;
