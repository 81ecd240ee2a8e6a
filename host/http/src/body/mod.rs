//! The request body and the response body. Rule: one type each, so that no layer is generic over bodies.

mod request;
mod response;

pub use request::{BodyError, LimitedBody, RequestBody};
pub use response::Body;
