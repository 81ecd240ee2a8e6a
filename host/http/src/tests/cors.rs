//! CORS: preflights, and the headers of every response.

use super::fixture::{Client, listener_settings, serve, settings, start};
use crate::{Listener, ListenerError, ListenerSettings};
use gateway_config::HttpConfig;
use rstest::rstest;

const PREFLIGHT: &str = "OPTIONS /echo HTTP/1.1\r\nhost: a\r\norigin: https://app.example\r\n\
    access-control-request-method: PUT\r\n";

#[tokio::test]
async fn a_preflight_allows_the_requested_headers() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    let requested = "access-control-request-headers: content-type,x-service-sig, payment-signature\r\n";
    let response = client.request(&format!("{PREFLIGHT}{requested}\r\n")).await;
    assert_eq!(response.status, 204);
    assert_eq!(response.header("access-control-allow-origin"), Some("*"));
    assert_eq!(response.header("access-control-allow-methods"), Some("GET,HEAD,PUT,PATCH,POST,DELETE"));
    assert_eq!(response.header("access-control-allow-headers"), Some("content-type,x-service-sig,payment-signature"));
    assert!(response.header("access-control-max-age").unwrap().parse::<u32>().unwrap() > 0);
    assert_eq!(response.header("access-control-allow-credentials"), None);
    assert!(response.header("x-request-id").is_some());
}

/// What clients of x402 send with a payment, in both versions; they send the last one as a request header, too.
#[tokio::test]
async fn a_preflight_allows_the_headers_of_payments() {
    let server = start(&settings());
    let requested = "payment,x-payment,payment-signature,access-control-expose-headers";
    let preflight = format!("{PREFLIGHT}access-control-request-headers: {requested}\r\n\r\n");
    let response = Client::connect(server.addr).await.request(&preflight).await;
    assert_eq!(response.status, 204);
    assert_eq!(response.header("access-control-allow-headers"), Some(requested));
}

#[tokio::test]
async fn a_preflight_lists_valid_names_up_to_a_limit() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    let requested = "access-control-request-headers: good, b@d, <script>, also-good\r\n";
    let response = client.request(&format!("{PREFLIGHT}{requested}\r\n")).await;
    assert_eq!(response.header("access-control-allow-headers"), Some("good,also-good"));
    let many = "x,".repeat(1000);
    let response = client.request(&format!("{PREFLIGHT}access-control-request-headers: {many}\r\n\r\n")).await;
    assert_eq!(response.header("access-control-allow-headers").unwrap().split(',').count(), 64);
}

#[tokio::test]
async fn an_options_request_that_is_no_preflight_reaches_the_gateway() {
    let server = start(&settings());
    let response = Client::connect(server.addr).await.request("OPTIONS /missing HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(response.status, 404);
}

#[rstest]
#[case::good("GET /hello HTTP/1.1\r\nhost: a\r\n", 200)]
#[case::stream("GET /events HTTP/1.1\r\nhost: a\r\n", 200)]
#[case::not_found("GET /missing HTTP/1.1\r\nhost: a\r\n", 404)]
#[case::bad_host("GET /hello HTTP/1.1\r\n", 400)]
#[case::panic("GET /panic HTTP/1.1\r\nhost: a\r\n", 500)]
#[tokio::test]
async fn every_response_has_the_cors_headers(#[case] head: &str, #[case] status: u16) {
    let server = start(&settings());
    let response =
        Client::connect(server.addr).await.request(&format!("{head}origin: https://app.example\r\n\r\n")).await;
    assert_eq!(response.status, status);
    assert_eq!(response.header("access-control-allow-origin"), Some("*"));
    assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
    let program = Client::connect(server.addr).await.request(&format!("{head}\r\n")).await;
    assert_eq!(program.header("access-control-allow-origin"), Some("*"), "for a browser behind the same cache");
    assert_eq!(program.header("access-control-expose-headers"), None, "only a browser reads the list");
    let exposed = response.header("access-control-expose-headers").unwrap();
    for name in [
        "PAYMENT-REQUIRED",
        "PAYMENT-RESPONSE",
        "X-PAYMENT-RESPONSE",
        "RateLimit",
        "Retry-After",
        "X-Request-Id",
        "X-Service-Merkle-Root",
        "X-Service-Position",
    ] {
        assert!(exposed.split(", ").any(|exposed| exposed == name), "{name} is missing in {exposed}");
    }
}

fn with_header_prefix(prefix: &str) -> ListenerSettings {
    ListenerSettings { header_prefix: prefix.to_owned(), ..listener_settings(&settings()) }
}

#[tokio::test]
async fn exposed_headers_have_the_brand_prefix() {
    let server = serve(&with_header_prefix("x-acme"));
    let request = "GET /hello HTTP/1.1\r\nhost: a\r\norigin: https://app.example\r\n\r\n";
    let response = Client::connect(server.addr).await.request(request).await;
    assert!(response.header("access-control-expose-headers").unwrap().contains("x-acme-Degraded"));
}

#[tokio::test]
async fn an_invalid_header_prefix_is_refused_at_bind() {
    for prefix in ["x\n", "x y", "x:"] {
        let refused = Listener::bind(&with_header_prefix(prefix));
        assert!(matches!(refused, Err(ListenerError::HeaderPrefix { .. })), "{prefix:?}");
    }
}

#[tokio::test]
async fn can_be_switched_off() {
    let server = start(&HttpConfig { cors: false, ..settings() });
    let mut client = Client::connect(server.addr).await;
    assert_eq!(client.get("/hello").await.header("access-control-allow-origin"), None);
    let response = client.request(&format!("{PREFLIGHT}\r\n")).await;
    assert_eq!(response.header("access-control-allow-methods"), None);
}
