//! Calls of plugins beside requests: runs of jobs, tasks of queues, services and frames of topics. Each is contained
//! ([`crate::plugin::ContainedCall`]).

mod call_depth;
mod declared_outputs;
mod job;
mod queue_worker;
mod services;
mod topic;

pub(crate) use call_depth::CallDepth;
pub(crate) use declared_outputs::DeclaredOutputs;
pub use job::run_job;
pub use queue_worker::queue_worker;
pub use services::call_own_service;
pub(crate) use services::{call_service, call_service_in_write, check_used};
pub use topic::render_topic;
