//! Exactly one valid Host per request.

use super::fixture::{Client, settings, start};
use rstest::rstest;

#[rstest]
#[case::missing("GET /hello HTTP/1.1\r\n\r\n")]
#[case::two("GET /hello HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n")]
#[case::the_same_twice("GET /hello HTTP/1.1\r\nhost: a\r\nhost: a\r\n\r\n")]
#[case::two_in_http_10("GET /hello HTTP/1.0\r\nhost: a\r\nhost: b\r\n\r\n")]
#[case::empty("GET /hello HTTP/1.1\r\nhost:\r\n\r\n")]
#[case::with_a_path("GET /hello HTTP/1.1\r\nhost: a/b\r\n\r\n")]
#[case::with_a_user("GET /hello HTTP/1.1\r\nhost: user@a\r\n\r\n")]
#[case::two_in_one("GET /hello HTTP/1.1\r\nhost: a, b\r\n\r\n")]
#[case::with_a_wrong_port("GET /hello HTTP/1.1\r\nhost: a:8x\r\n\r\n")]
#[case::absolute_without("GET http://a/hello HTTP/1.1\r\n\r\n")]
#[case::absolute_with_two("GET http://a/hello HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n")]
#[case::connect("CONNECT a:80 HTTP/1.1\r\nhost: a:80\r\n\r\n")]
#[tokio::test]
async fn refuses_a_missing_duplicate_or_invalid_host(#[case] request: &str) {
    let server = start(&settings());
    let response = Client::connect(server.addr).await.request(request).await;
    assert_eq!(response.status, 400, "{}", response.text());
    assert_eq!(response.code(), "bad_host");
    assert!(response.header("x-request-id").is_some());
}

#[rstest]
#[case::name("GET /who HTTP/1.1\r\nhost: api.example\r\n\r\n", "api.example")]
#[case::port("GET /who HTTP/1.1\r\nhost: api.example:8080\r\n\r\n", "api.example:8080")]
#[case::ipv6("GET /who HTTP/1.1\r\nhost: [::1]:8080\r\n\r\n", "[::1]:8080")]
#[case::ipv6_without_port("GET /who HTTP/1.1\r\nhost: [::1]\r\n\r\n", "[::1]")]
#[case::http_10_needs_none("GET /who HTTP/1.0\r\n\r\n", "none")]
#[case::absolute_target_overrides_the_header(
    "GET http://real.example/who HTTP/1.1\r\nhost: other\r\n\r\n",
    "real.example"
)]
#[tokio::test]
async fn passes_the_host_to_the_gateway(#[case] request: &str, #[case] host: &str) {
    let server = start(&settings());
    let response = Client::connect(server.addr).await.request(request).await;
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(response.text().split(' ').next_back(), Some(host));
}
