//! One TCP connection, from the socket to hyper's service. Rule: no module here knows a middleware or a route; a
//! request leaves this folder through [`HttpService`](crate::HttpService).

mod builder;
mod chunked_state;
mod close_reason;
mod connection_info;
mod connection_settings;
mod connection_state;
mod direct_writer;
mod event_stream_response;
mod framing;
mod handover;
mod head_error;
mod http_connection;
mod lingering_close;
mod open_connections;
mod penalties;
mod read_budget;
mod request_head;
mod request_reader;
mod request_service;
mod serve_connection;
mod socket;
mod start_limiter;
mod tarpit;
mod timeouts;
mod tracked_body;
mod transport;

pub use connection_info::ConnectionInfo;
pub(crate) use connection_settings::ConnectionSettings;
pub(crate) use connection_state::ConnectionState;
pub(crate) use head_error::HeadError;
pub(crate) use lingering_close::LingeringClose;
pub(crate) use open_connections::OpenConnections;
pub(crate) use read_budget::ReadBudget;
pub(crate) use serve_connection::serve_connection;
pub use tarpit::Tarpit;
pub(crate) use transport::{MakeTransport, NewTransport, Plain, Transport};

#[cfg(test)]
pub(crate) use {
    builder::Builders,
    direct_writer::DirectWriter,
    framing::{Framing, HeadLimits},
    request_reader::RequestReader,
};
