//! Carries a request from the router into a plugin and the response back.

mod auth;
mod authors;
mod body_parts;
mod call;
mod commit;
mod dispatcher;
pub(crate) mod etag;
mod payments;
mod position_header;
mod priced;
mod request_head;
mod response;
mod response_cache;
mod unrouted;

pub(crate) use auth::EnvelopeVerifier;
pub(crate) use dispatcher::{Dispatcher, DispatcherParts};
pub(crate) use payments::Payments;
pub(crate) use position_header::PositionHeader;
pub(crate) use response::Streams;
