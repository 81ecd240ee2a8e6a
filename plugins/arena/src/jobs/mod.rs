//! Work that runs by itself.

pub mod announce_awards;
