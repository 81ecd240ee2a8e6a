//! HTTP: from the socket to a plugin's handler. Rule: every answer, errors of every layer included, has one body type and
//! one error shape.

mod answer;
mod auth;
pub mod body;
pub mod cache;
mod dispatch;
pub mod edge;
mod etag;
mod head;
pub mod limits;
mod meta;
pub mod problem;
mod refused;
pub mod router;
mod status;

pub use dispatch::within;
