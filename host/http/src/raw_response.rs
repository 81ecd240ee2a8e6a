//! An error response to a connection whose request nobody reads. Rule: it ends the connection.

use crate::middleware::RequestId;
use http::StatusCode;
use plugin_api::response::Problem;

/// `headers`: complete lines with their CR LF.
pub(crate) fn raw_response(problem: &Problem, headers: &str) -> String {
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_REQUEST);
    let body = serde_json::to_string(problem).unwrap_or_default();
    let id = RequestId::generate();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{headers}\
         access-control-allow-origin: *\r\nx-content-type-options: nosniff\r\nx-request-id: {}\r\nconnection: close\r\n\r\n{body}",
        body.len(),
        id.0,
    )
}
