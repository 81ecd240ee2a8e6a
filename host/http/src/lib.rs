//! From the TCP socket to the gateway's router. Rule: nothing that a client sends or omits holds a connection for
//! longer than the configured limits, and every response carries a request id.
//!
//! Read `middleware/stack.rs` for the layers of a request, `listener/serve.rs` for the life of the listener, and
//! `connection/serve_connection.rs` for the life of one connection.

#![cfg_attr(not(test), warn(unreachable_pub))]

pub mod body;
mod connection;
mod http_service;
mod listener;
mod middleware;
pub mod problem;
mod raw_response;
mod tls;

#[cfg(test)]
mod tests;

#[cfg(test)]
mod fuzz;

pub use connection::{ConnectionInfo, Tarpit};
pub use http_service::HttpService;
pub use listener::{DrainReport, Listener, ListenerError, ListenerSettings};
pub use middleware::{COMPRESSED_MIN_BYTES, ClientIp, Precompressed, RequestId, RequestSpan, RouteLabel, compressed};
pub use tls::{Certificate, CertificateError, Tls, client_name};
