//! What a request knows of the connection it came on. Rule: set once by the connection, read by the stages.

use super::violation::Violation;
use std::net::IpAddr;

#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// The other end of the socket: a client, or the proxy nearest to the gateway.
    pub ip: IpAddr,
    /// Why the request's head was refused; then there is nothing of it but its request line, if that.
    pub violation: Option<Violation>,
}
