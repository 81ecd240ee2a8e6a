//! The response to a request that no route takes.

use crate::{error_response::ErrorResponse, pages, routes::RouteLookup};
use gateway_http::body::Body;
use http::{Method, Response, StatusCode, header, request::Parts};

/// `is_any_starting`: whether the path may be one of a plugin whose routes are not there yet.
pub(crate) fn unrouted(parts: &Parts, lookup: RouteLookup, is_any_starting: bool) -> Response<Body> {
    let refused = match lookup {
        RouteLookup::MethodNotAllowed(methods) => return other_methods(&parts.method, &methods),
        RouteLookup::BadPath => {
            ErrorResponse::new(400, "bad_path", "the path is not UTF-8", "percent-encode UTF-8 text")
        }
        RouteLookup::NotFound if is_any_starting => ErrorResponse::still_starting(),
        RouteLookup::NotFound if parts.method == Method::GET && pages::prefers_html(&parts.headers) => {
            return pages::not_found_page(parts.uri.path());
        }
        RouteLookup::NotFound | RouteLookup::Found { .. } => {
            ErrorResponse::new(404, "not_found", "no such route", "GET /api lists every route of this gateway")
        }
    };
    refused.into_response()
}

/// A plain `OPTIONS` asks for just this list; a browser's preflight is answered at the edge.
fn other_methods(method: &Method, methods: &[Method]) -> Response<Body> {
    let allow = methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
    let mut response = if method == Method::OPTIONS {
        let mut response = Response::new(Body::Empty);
        *response.status_mut() = StatusCode::NO_CONTENT;
        response
    } else {
        let message = format!("{method} is not a method of this route");
        ErrorResponse::new(405, "method_not_allowed", message, &format!("use one of: {allow}")).into_response()
    };
    if let Ok(allow) = allow.parse() {
        response.headers_mut().insert(header::ALLOW, allow);
    }
    response
}
