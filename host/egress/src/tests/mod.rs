//! `Egress::fetch` against servers and resolvers that misbehave.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod budget;
mod connections;
mod destination_limits;
mod fixture;
mod limits;
mod redirects;
mod requests;
mod resolving;
mod settings;
mod streams;
mod tls;
