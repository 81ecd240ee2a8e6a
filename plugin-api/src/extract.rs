//! Rare extractors, and what it takes to write one.
//!
//! ```
//! use plugin_api::{HandlerError, Json, RequestContext, Route, response::Problem};
//! use plugin_api::extract::{Body, BodyParts, FromParam, FromRequest, HeaderName, HeaderValue, Request, RouteDescription, SignedBy, Viewer};
//!
//! /// A path parameter of one's own.
//! struct Colour(u32);
//!
//! impl FromParam for Colour {
//!     const RESOURCE: &'static str = "colour";
//!
//!     fn from_param(text: &str) -> Option<Self> {
//!         u32::from_str_radix(text, 16).ok().map(Self)
//!     }
//!
//!     fn schema() -> serde_json::Value {
//!         serde_json::json!({ "type": "string" })
//!     }
//! }
//!
//! /// An extractor of one's own.
//! struct Languages(Vec<String>);
//!
//! impl FromRequest for Languages {
//!     fn from_request(request: &mut Request) -> Result<Self, Problem> {
//!         let header = request.header("accept-language").unwrap_or("en");
//!         Ok(Self(header.split(',').map(str::to_owned).collect()))
//!     }
//!
//!     fn describe(route: &mut RouteDescription<'_>) {
//!         route.spec.description.push_str("Answers in a language of `accept-language`.");
//!     }
//! }
//!
//! struct UserAgent;
//!
//! impl HeaderName for UserAgent {
//!     const NAME: &'static str = "user-agent";
//! }
//!
//! # struct Notes;
//! async fn paint(
//!     _: RequestContext<Notes>,
//!     Languages(languages): Languages,
//!     user_agent: HeaderValue<UserAgent>,
//!     Viewer(viewer): Viewer,
//!     Body(bytes): Body,
//! ) -> Result<Json<usize>, HandlerError> {
//!     let known = usize::from(viewer.is_some()) + usize::from(user_agent.0.is_some());
//!     Ok(Json(bytes.len() + languages.len() + known))
//! }
//!
//! let _ = Route::<Notes>::post("/api/notes/paint", paint).public();
//! ```

pub use crate::sdk::{
    Body, BodyParts, FromParam, FromRequest, HeaderName, HeaderValue, Limit, Request, RouteDescription, SignedBy,
    Viewer,
};
