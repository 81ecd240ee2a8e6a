//! Routes: which plugin, or which page of the gateway, handles a request, and within which limits.

mod call_window;
mod ip_limits;
mod router;
mod starting_plugins;
mod table;

pub use ip_limits::{IpLimits, RateLimitExceeded, RemainingQuota, RouteLimits};
pub use router::{HOST, RenderedDocuments, Route, RouteConflict, RouteLookup, Router, TaggedDocument, Target, shape};
pub use starting_plugins::{StartingPlugin, StartingPlugins};
pub use table::RouteTable;
