//! The bodies of the house: one type in, one type out, so that no layer is generic over bodies.

mod request;
mod response;

pub use request::{BodyError, RequestBody};
pub use response::Body;
