//! The one error body of the gateway: `{"error", "code", "hint"?}` as `application/json`. Rule: every layer that
//! refuses a request uses it.

use super::body::Body;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use plugin_api::response::Problem;

/// An error response. `message` is for people, `code` for programs, `hint` says what to do next (empty: no hint).
pub fn problem_response(status: StatusCode, code: &str, message: impl Into<String>, hint: &str) -> Response<Body> {
    response_from(&Problem::new(status.as_u16(), code, message).hint(hint))
}

/// The error response for a [`Problem`]. A status that HTTP does not know becomes 500.
pub fn response_from(problem: &Problem) -> Response<Body> {
    let body = serde_json::to_vec(problem).unwrap_or_default();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
