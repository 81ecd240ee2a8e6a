//! Work that runs by itself, one file per job.

pub mod prune_guests;
