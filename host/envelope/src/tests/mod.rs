//! The envelope: who signed what, when, and everything that is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod canonical;
mod carriers;
mod client_vectors;
mod malleability;
mod published_vectors;
mod refusals;
mod strict_json;
mod wallet;
