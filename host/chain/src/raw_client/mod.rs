//! Raw calls to the servers of a chain, over connections of their own.

mod client;
mod identity;
mod server_secrets;

pub(crate) use client::{RawClient, RawFailure, RawResult};
