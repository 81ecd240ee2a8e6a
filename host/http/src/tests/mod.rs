//! The crate through its socket: raw bytes in, raw bytes out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod accepting;
mod access_log;
mod bodies;
mod client_ips;
mod compression;
mod connection_limits;
mod cors;
mod direct_writer;
mod drain;
mod errors;
mod event_streams;
mod fixture;
mod framing;
mod hosts;
mod http2;
mod in_flight_limit;
mod memory;
mod request_heads;
mod request_ids;
mod tarpit;
mod timeouts;
mod tls;
