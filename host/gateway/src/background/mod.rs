//! What goes on beside requests: housekeeping, backups, the watch over memory, and what gateways on one database tell each other.

mod backups;
pub(crate) mod housekeeping;
pub(crate) mod memory_watch;
pub(crate) mod replicas;

pub(crate) use backups::Backups;
pub use replicas::{ReplicaReport, Replicas, differing_plugins};
