//! How new data is: what responses that are built from it are cached by.

pub mod read_tracking;
pub(crate) mod revisions;
mod shared_read;
pub(crate) mod versions;

pub use read_tracking::ReadDependencies;
pub use revisions::{OwnerRevision, Revision, Revisions};
pub use versions::{ChangeCount, versions_migration};
