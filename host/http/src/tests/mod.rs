//! The edge through its socket: raw bytes in, raw bytes out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod accepting;
mod access_log;
mod bodies;
mod client_ips;
mod compression;
mod connection_caps;
mod cors;
mod direct_writer;
mod errors;
mod fixture;
mod framing;
mod heads;
mod hosts;
mod http2;
mod limits;
mod request_ids;
mod stopping;
mod tarpit;
mod timeouts;
