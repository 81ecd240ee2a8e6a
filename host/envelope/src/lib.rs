//! The envelope of signed requests: who signed what, and when.
//!
//! Rule: a request passes only if exactly one address signed exactly the text that the handler gets. Everything here is
//! pure: the clock is an argument, and the replay guard, which needs a database, identifies a request by its digest. The text that
//! is signed is made by the crate `request-signing`, which clients share.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod address;
mod brand;
mod envelope;
mod error;
pub mod example;
mod field_error;
mod signature;
mod signed_request;
mod strict_json;
mod timestamp;
mod verify;

#[cfg(test)]
mod tests;

#[cfg(test)]
mod fuzz;

pub use brand::{Brand, BrandError};
pub use error::EnvelopeError;
pub use request_signing::{canonical, digest, message};
pub use signature::{SignatureError, parse as parse_signature, recover};
pub use signed_request::{SignedRequest, verify_signed_body, verify_signed_headers, verify_signed_query};
pub use timestamp::TS_WINDOW_S;
