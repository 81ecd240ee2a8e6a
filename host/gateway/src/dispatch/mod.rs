//! A request's way from the router into a plugin and back.

mod auth;
mod call;
mod dispatcher;
mod etag;
mod request_head;
mod response;
mod response_cache;

pub use auth::EnvelopeVerifier;
pub use dispatcher::{Dispatcher, within};
pub use response::Streams;
pub use response_cache::ResponseCache;
