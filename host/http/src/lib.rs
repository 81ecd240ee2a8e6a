//! The edge: everything between the TCP socket and the gateway's router. Rule: nothing that a client sends or leaves unsent
//! holds a connection for longer than the settings say, and every answer carries a request id.
//!
//! Read [`stack`] for the way of a request, [`listen`] for the life of the listener, [`connection`] for the life of one
//! connection.

mod accept;
mod access_log;
pub mod body;
mod chunks;
mod client_ip;
mod compression;
mod connection;
mod cors;
mod deadline;
mod direct_writer;
mod framing;
mod head_method;
mod host_header;
mod in_flight;
mod incoming;
mod listen;
mod panic_fence;
mod peer;
mod preflight;
pub mod problem;
mod protocol;
mod refuse;
mod refused_head;
mod request_head;
mod request_id;
mod security_headers;
mod settings;
mod slots;
mod socket;
mod stack;
mod stage;
mod tarpit;
mod turns;
mod violation;
mod vitals;

#[cfg(test)]
mod tests;

#[cfg(test)]
mod fuzz;

pub use access_log::RouteLabel;
pub use client_ip::ClientIp;
pub use direct_writer::DirectWriter;
pub use listen::{Drained, Edge, EdgeError};
pub use peer::Peer;
pub use request_id::RequestId;
pub use settings::EdgeSettings;
pub use slots::owner;
pub use stage::HttpService;
pub use tarpit::Tarpit;
