//! The listening socket: bind, accept, connection limits, drain. Rule: nothing here reads a request; that is
//! `connection`'s work.

mod acceptor;
mod bind;
mod connection_limits;
mod drain;
mod listener_settings;
mod refusal;
mod serve;

pub use bind::{Listener, ListenerError};
pub use drain::DrainReport;
pub use listener_settings::ListenerSettings;

#[cfg(test)]
pub(crate) use {
    acceptor::{Acceptor, ConnectionSource},
    connection_limits::{ConnectionLimits, LimitReached},
};
