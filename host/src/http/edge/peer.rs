//! What a request knows of the connection it came on. Rule: set once by the connection, read by the stages.

use super::framing::Violation;
use std::net::IpAddr;

#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// The other end of the socket: a client, or the proxy nearest to the gateway.
    pub ip: IpAddr,
    /// What was wrong with the request's bytes, though hyper could read them.
    pub violation: Option<Violation>,
}
