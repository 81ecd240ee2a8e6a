//! The JSON of a request, parsed so that every other parser finds the same value in it.
//!
//! Rule: text that two JSON parsers could understand differently is refused with a reason: duplicate keys, lone
//! surrogates, numbers that a double cannot hold. So the value that was hashed is the value that the handler gets.
//! Integral numbers up to 2^53 become integers in every notation (`1.0`, `1e0`, `-0`), because their canonical text is
//! the same.

mod builder;
mod error;
mod integers;
mod parse;

#[cfg(test)]
pub(crate) use error::Position;
pub(crate) use error::StrictJsonError;
#[cfg(test)]
pub(crate) use parse::parse;
pub(crate) use parse::{parse_object, type_name};
