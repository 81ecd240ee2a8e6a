//! What a request knows about its connection. Rule: the connection sets it once, the middleware reads it.

use super::head_error::HeadError;
use gateway_activity::Sink;
use std::net::IpAddr;
use std::sync::Weak;

/// Request extension.
#[derive(Clone, Debug)]
pub struct ConnectionInfo {
    /// The other end of the socket: a client, or the proxy nearest to the gateway.
    pub(crate) peer_ip: IpAddr,
    /// Why the request's head was refused. The request then has no headers, and only a placeholder for its request line
    /// if that was unreadable too.
    pub(crate) head_error: Option<HeadError>,
    /// The connection's writer, on HTTP/1.1 only: there chunks of the response can be written past its task.
    pub sink: Option<Weak<dyn Sink>>,
}
