//! Plugins: from a file in a folder to a module with a checked manifest.
//!
//! discover (which files) → inspect (what a file says about itself) → load (map a private copy, check the layout) →
//! manifest (what the plugin offers) → open, serve, drain (`manager.rs`). The rule: none of its code runs before the
//! inspection has passed, and a bad plugin is a line in a report, never an outage.

mod capabilities;
mod copy;
pub mod discover;
pub mod inspect;
mod job;
mod kept_contributions;
mod life;
pub mod load;
pub mod loaded;
mod manager;
mod operate;
mod register;
pub mod report;
mod running;
mod transaction;
pub mod validate;

pub use discover::{Candidate, DiscoverError, discover};
pub use inspect::{InspectError, InspectProblem, Inspection, PluginFile, inspect, open};
pub use kept_contributions::KeptContributions;
pub use life::{FenceRequest, PluginLife};
pub use load::LoadError;
pub use loaded::{LoadedPlugin, PluginError};
pub use manager::load_folder;
pub use operate::{Action, OFF_BY_OPERATOR, ON_BY_OPERATOR, OperateError, Outcome};
pub use register::{Plugins, SWITCHED_OFF as OFF_BY_CONFIGURATION, published_views};
pub use report::{PluginReport, PluginState};
pub use running::{Contribution, Running, Serving, Visit, collect, sources};
pub use transaction::{CommitError, GUARD_MIGRATION, Guard, Owner, PluginTransaction, read_event};
pub use validate::validate_manifest;
