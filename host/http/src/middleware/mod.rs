//! The middleware between a connection and the gateway, one layer a file. Rule: [`stack`](stack()) alone decides the
//! order.

mod accept_encoding;
mod access_log;
mod catch_panic;
mod client_ip;
mod compression;
mod cors_preflight;
mod deadline;
mod exposed_headers;
mod head_error_response;
mod head_method;
mod host_header;
mod in_flight_limit;
mod middleware_layer;
mod request_id;
mod request_span;
mod response_headers;
mod stack;

pub use access_log::RouteLabel;
pub use client_ip::ClientIp;
pub use compression::{COMPRESSED_MIN_BYTES, Precompressed, compressed};
pub(crate) use exposed_headers::ExposedHeaders;
pub use request_id::RequestId;
pub use request_span::RequestSpan;
pub(crate) use stack::stack;
