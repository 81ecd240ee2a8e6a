//! The response of the gateway under test.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::Value;

#[derive(Clone, Debug)]
pub struct TestResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl TestResponse {
    /// The body as JSON; `null` when it is not JSON, so that an assertion on its content fails.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header as text; empty when absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The cursor of the page that follows: of the link `next`. `None` behind the last page. Panics at a link of another form.
    pub fn next_cursor(&self) -> Option<String> {
        let link = self.headers.get("link")?.to_str().expect("a link is text");
        let query = link.strip_prefix("<?").and_then(|link| link.strip_suffix(">; rel=\"next\""));
        let cursor = query.and_then(|query| query.split('&').find_map(|member| member.strip_prefix("cursor=")));
        Some(cursor.unwrap_or_else(|| panic!("{link} is no link to a next page")).to_owned())
    }

    /// The `code` of an error body.
    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }

    /// Whether the status is 2xx.
    pub fn is_success(&self) -> bool {
        StatusCode::from_u16(self.status).is_ok_and(|status| status.is_success())
    }
}
