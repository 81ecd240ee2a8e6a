//! The headers of every response, errors and streams included. Rule: `access-control-allow-origin` is always there, because
//! a shared cache sends one response to browsers and programs alike; the long list of exposed headers only for a browser,
//! which says `Origin`.

use super::exposed_headers::ExposedHeaders;
use super::middleware_layer::Middleware;
use crate::body::{Body, RequestBody};
use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue, ORIGIN, X_CONTENT_TYPE_OPTIONS,
};
use http::{Request, Response};
use std::ops::ControlFlow;

#[derive(Clone)]
pub(crate) struct ResponseHeaders {
    /// `None` without CORS.
    pub cors: Option<ExposedHeaders>,
}

/// Whether the request is a browser's, for a page of another origin.
pub(crate) struct HasOrigin(bool);

impl Middleware for ResponseHeaders {
    type State = HasOrigin;

    fn on_request(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, HasOrigin> {
        ControlFlow::Continue(HasOrigin(request.headers().contains_key(ORIGIN)))
    }

    fn on_response(&self, HasOrigin(has_origin): HasOrigin, response: &mut Response<Body>) {
        let headers = response.headers_mut();
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if let Some(ExposedHeaders(exposed)) = &self.cors {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            if has_origin {
                headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed.clone());
            }
        }
    }
}
