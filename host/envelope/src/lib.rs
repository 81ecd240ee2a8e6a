//! The envelope of signed requests: who signed what, and when.
//!
//! Rule: a request passes only if exactly one address signed exactly the text that the handler gets. Everything here is
//! pure: the clock is an argument, and the replay guard, which needs a database, keys its rows by [`Signed::replay_key`].

pub mod address;
mod brand;
pub mod canonical;
pub mod example;
mod fields;
mod message;
mod refusal;
mod signature;
mod sources;
pub mod strict_json;
mod verify;

#[cfg(test)]
mod tests;

#[cfg(test)]
mod fuzz;

pub use brand::{Brand, BrandError};
pub use fields::{Envelope, EnvelopeField, Field, FieldFault};
pub use message::{digest, message};
pub use refusal::{Mismatch, Refusal};
pub use signature::{SignatureFault, parse as parse_signature, recover};
pub use sources::{ReplayKey, Signed, signed_body, signed_headers, signed_query};
pub use verify::{TS_WINDOW_S, Verified, verify};
