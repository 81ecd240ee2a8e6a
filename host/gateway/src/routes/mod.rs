//! Routes: which plugin, or which page of the gateway, handles a request, and within which limits.

mod call_window;
mod ip_limits;
mod router;
mod table;

pub use ip_limits::{Allowance, Exceeded, IpLimits, RouteLimits};
pub use router::{Found, HOST, RenderedDocuments, Route, RouteConflict, Router, TaggedDocument, Target, shape};
pub use table::RouteTable;
