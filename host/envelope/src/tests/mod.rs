//! Signed requests: what is accepted, and everything that is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod canonical;
mod client_vectors;
mod cost;
mod headers_and_query;
mod malleability;
mod published_vectors;
mod refusals;
mod strict_json;
mod wallet;
