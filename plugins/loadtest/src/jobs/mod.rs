//! Scheduled jobs, one file per job.

pub mod derive;
pub mod follow;
pub mod run;
