//! Credentials that are right, and what is done to them.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod chain;
mod forgeries;
mod honest;
mod world;
