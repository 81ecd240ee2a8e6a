//! Outbound HTTP: every request to an address that a client or a plugin chose goes through [`Egress::fetch`], or through
//! [`Egress::stream`], on which it is built.
//!
//! The rule that must not break: a request goes only to an address that was checked for its origin, at most 30 seconds ago. Every
//! address that a name resolves to is checked, and the HTTP client can connect to nothing else; it follows no redirect and reads
//! no proxy variables.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod allow_list;
mod connection;
mod connection_pool;
mod destinations;
mod egress;
mod error;
mod fetch_record;
mod idle_connections;
mod pinned_client;
mod redirect;
mod request;
mod resolver;
mod response;
mod response_body;
mod sent_request;
mod settings;
mod special_ranges;
#[cfg(test)]
mod tests;
mod url_check;

pub use allow_list::AllowList;
pub use egress::Egress;
pub use error::{BoxError, DestinationLimit, EgressError};
pub use pinned_client::client_tls;
pub use request::{FetchRequest, Overflow, StreamTimeouts};
pub use resolver::{Resolver, SystemResolver};
pub use response::{FetchResponse, StreamedResponse};
pub use response_body::ResponseBody;
pub use settings::EgressSettings;
pub use url_check::check_url;
