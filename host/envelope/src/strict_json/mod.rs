//! The JSON of a request, parsed once: so that every other parser finds the same value in it, and into its canonical form,
//! which is what is hashed and what the handler gets.
//!
//! Rule: text that two JSON parsers could understand differently is refused with a reason: duplicate keys, lone
//! surrogates, numbers that a double cannot hold. So the value that was hashed is the value that the handler gets.
//! Integral numbers up to 2^53 become integers in every notation (`1.0`, `1e0`, `-0`), because their canonical text is
//! the same.

mod document;
mod error;
mod integers;
mod keys;
mod parse;
mod writer;

pub(crate) use document::{Document, EnvelopeMembers};
#[cfg(test)]
pub(crate) use error::Position;
pub(crate) use error::StrictJsonError;
#[cfg(test)]
pub(crate) use parse::{parse, parse_document};
pub(crate) use parse::{parse_body, type_name};
