//! The tower service that every layer of this crate is and wraps. Rule: one request type, one response type, and no
//! error, so that no layer can drop a request without a response.

use crate::body::{Body, RequestBody};
use http::{Request, Response};
use std::convert::Infallible;
use tower::Service;

pub trait HttpService:
    Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>
    + Clone
    + Send
    + 'static
{
}

impl<S> HttpService for S where
    S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>
        + Clone
        + Send
        + 'static
{
}
