//! Jobs: work of plugins that runs on its own, at intervals or at the times of a cron line.
//!
//! The rule: a gateway that runs a job holds its lease in the database, so that of all gateways on one database at most
//! one runs it at a time. It renews the lease while the run goes on; a run that lost it is stopped, and commits nothing. See
//! `lease.rs` and `renewal.rs` for the lease, and `runner.rs` for a run.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod job;
mod lease;
mod renewal;
mod runner;
mod schedule;
mod status;
mod store;

pub use job::{InvalidJobs, JobFailure, JobSet};
pub use lease::{LEASE, RunLease, select_held};
pub use runner::{JobRunner, RunJob};
pub use schedule::Jitter;
pub use status::service_status;
pub use store::{JobStatus, JobStore, forget_plugin, migration, wakes_migration};
