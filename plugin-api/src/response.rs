//! Rare responses, and what it takes to write one.
//!
//! ```
//! use futures_core::Stream;
//! use plugin_api::{HandlerError, HostError, RequestContext, handles::FfiBytes};
//! use plugin_api::response::{Accepted, IntoResponse, NoContent, Problem, RawResponse, Response, StreamBody, Text, WithHeader};
//!
//! # struct Notes;
//! async fn get_image(_: RequestContext<Notes>) -> Result<WithHeader<RawResponse>, HandlerError> {
//!     let response = RawResponse { status: 200, content_type: "image/png".into(), body: vec![137, 80, 78, 71].into() };
//!     Ok(WithHeader { response, name: "content-security-policy".into(), value: "sandbox".into() })
//! }
//!
//! async fn export<S>(cx: RequestContext<Notes>, rows: S) -> Result<StreamBody<S>, HandlerError>
//! where
//!     S: Stream<Item = Result<FfiBytes, HostError>> + Send + 'static,
//! {
//!     Ok(StreamBody::new(&cx, "text/csv", rows))
//! }
//!
//! async fn start(_: RequestContext<Notes>) -> Result<Accepted<i64>, HandlerError> {
//!     Ok(Accepted(7))
//! }
//!
//! async fn delete(_: RequestContext<Notes>) -> Result<NoContent, HandlerError> {
//!     Err(Problem::new(409, "busy", "the note is being printed").hint("wait").into())
//! }
//!
//! /// A response of one's own.
//! struct Greeting(String);
//!
//! impl IntoResponse for Greeting {
//!     fn into_response(self) -> Response {
//!         Text(self.0.into()).into_response()
//!     }
//! }
//! ```
//!
//! A request that goes on to the server of somebody else, who answers it ([`Forward`]):
//!
//! ```
//! use plugin_api::{HandlerError, RequestContext, extract::Body, response::{Forward, ForwardError, Forwarded}};
//!
//! # struct Notes;
//! async fn print_note(cx: RequestContext<Notes>, Body(note): Body) -> Result<Forwarded, HandlerError<ForwardError>> {
//!     Forward::to(&cx, "https://printer.example/notes")?.send(&cx, note).await
//! }
//! ```

pub use crate::abi::Response;
pub use crate::sdk::{
    Accepted, CreatedOrUpdated, Forward, ForwardError, ForwardLimits, Forwarded, IntoResponse, NoContent, Problem,
    RawResponse, StreamBody, Text, WithHeader,
};
