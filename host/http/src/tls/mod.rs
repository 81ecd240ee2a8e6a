//! TLS of the listeners: their certificates, and the handshake of a connection of the public one. Rule: nothing here reads a
//! file, and nothing prints a private key.

mod certificate;
mod client_name;
mod handshake;
mod handshake_error;
mod transport;

pub use certificate::{Certificate, CertificateError, Tls};
pub use client_name::client_name;
