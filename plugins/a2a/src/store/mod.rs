//! The SQL: agents and jobs in the views of other plugins, and the plugin's own counters of calls for jobs.

pub mod agents;
pub mod job_calls;
pub mod jobs;
