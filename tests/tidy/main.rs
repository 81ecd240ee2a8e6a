//! Rules of this repository that can be a test. Each message says what to do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod benchmarks;
mod documents;
mod features;
mod impl_blocks;
mod metrics;
mod modules;
mod names;
mod plugins;
mod repository;
mod sdk;
mod source;
mod tutorial;
mod writes;
