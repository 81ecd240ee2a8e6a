//! The documents of a gateway with two fictional plugins; see [`fixture`].
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod changelog;
mod discovery;
mod fixture;
mod index;
mod llms;
mod openapi;
mod state;
