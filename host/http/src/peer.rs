//! What a request knows of the connection it came on. Rule: set once by the connection, read by the stages.

use super::violation::Violation;
use gateway_activity::Sink;
use std::net::IpAddr;
use std::sync::Weak;

#[derive(Clone, Debug)]
pub struct Peer {
    /// The other end of the socket: a client, or the proxy nearest to the gateway.
    pub ip: IpAddr,
    /// Why the request's head was refused; then there is nothing of it but its request line, if that.
    pub violation: Option<Violation>,
    /// The connection's way out, where the answer's chunks are its own: on HTTP/1.1.
    pub sink: Option<Weak<dyn Sink>>,
}
