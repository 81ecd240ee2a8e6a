//! From a file in a folder to a module with a checked manifest.
//!
//! discover (which files) → inspect (what a file says about itself) → load (map a private copy, check the layout) →
//! validate (what the plugin offers). The rule: none of its code runs before the inspection has passed.

mod consent;
mod copy;
pub mod discover;
mod folder_permissions;
pub mod inspect;
pub mod library_probe;
pub mod load;
mod load_error;
mod loaded;
mod pending_library;
mod plugin_folder;
mod release;
pub mod validate;

pub(crate) use consent::asked_grants;
pub use consent::missing_consent;
pub use discover::{DiscoverError, FoundLibrary, discover};
pub use inspect::{InspectError, InspectProblem, Inspection, PluginFile, inspect, open};
pub use load_error::LoadError;
pub use loaded::{LoadedPlugin, PluginError};
pub use pending_library::{LoadOutcome, PendingLibrary};
pub use plugin_folder::{FolderChanges, PluginFolder, load_folder};
pub use release::set_released_plugins;
pub use validate::validate_manifest;
