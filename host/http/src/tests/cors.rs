//! CORS: what browsers ask for and are allowed.

use super::fixture::{Client, listener_settings, serve, settings, start};
use crate::{Listener, ListenerError, ListenerSettings};
use gateway_config::HttpConfig;
use rstest::rstest;

const PREFLIGHT: &str = "OPTIONS /echo HTTP/1.1\r\nhost: a\r\norigin: https://app.example\r\n\
    access-control-request-method: PUT\r\n";

#[tokio::test]
async fn allows_what_a_browser_asks_for() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    let asked = "access-control-request-headers: content-type,x-service-sig, payment-signature\r\n";
    let answer = client.ask(&format!("{PREFLIGHT}{asked}\r\n")).await;
    assert_eq!(answer.status, 204);
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert_eq!(answer.header("access-control-allow-methods"), Some("GET,HEAD,PUT,PATCH,POST,DELETE"));
    assert_eq!(answer.header("access-control-allow-headers"), Some("content-type,x-service-sig,payment-signature"));
    assert!(answer.header("access-control-max-age").unwrap().parse::<u32>().unwrap() > 0);
    assert_eq!(answer.header("access-control-allow-credentials"), None);
    assert!(answer.header("x-request-id").is_some());
}

#[tokio::test]
async fn reflects_names_only_and_not_endlessly() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    let asked = "access-control-request-headers: good, b@d, <script>, also-good\r\n";
    let answer = client.ask(&format!("{PREFLIGHT}{asked}\r\n")).await;
    assert_eq!(answer.header("access-control-allow-headers"), Some("good,also-good"));
    let many = "x,".repeat(1000);
    let answer = client.ask(&format!("{PREFLIGHT}access-control-request-headers: {many}\r\n\r\n")).await;
    assert_eq!(answer.header("access-control-allow-headers").unwrap().split(',').count(), 64);
}

#[tokio::test]
async fn an_options_request_that_is_no_preflight_reaches_the_gateway() {
    let server = start(&settings());
    let answer = Client::connect(server.addr).await.ask("OPTIONS /missing HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(answer.status, 404);
}

#[rstest]
#[case::good("GET /hello HTTP/1.1\r\nhost: a\r\n\r\n", 200)]
#[case::stream("GET /events HTTP/1.1\r\nhost: a\r\n\r\n", 200)]
#[case::not_found("GET /missing HTTP/1.1\r\nhost: a\r\n\r\n", 404)]
#[case::bad_host("GET /hello HTTP/1.1\r\n\r\n", 400)]
#[case::panic("GET /panic HTTP/1.1\r\nhost: a\r\n\r\n", 500)]
#[tokio::test]
async fn every_answer_can_be_read_by_pages(#[case] request: &str, #[case] status: u16) {
    let server = start(&settings());
    let answer = Client::connect(server.addr).await.ask(request).await;
    assert_eq!(answer.status, status);
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    let exposed = answer.header("access-control-expose-headers").unwrap();
    for name in ["PAYMENT-REQUIRED", "RateLimit", "Retry-After", "X-Request-Id", "X-Service-Merkle-Root"] {
        assert!(exposed.split(", ").any(|exposed| exposed == name), "{name} is missing in {exposed}");
    }
}

fn branded(prefix: &str) -> ListenerSettings {
    ListenerSettings { header_prefix: prefix.to_owned(), ..listener_settings(&settings()) }
}

#[tokio::test]
async fn the_brand_names_the_exposed_headers() {
    let server = serve(&branded("x-acme"));
    let answer = Client::connect(server.addr).await.get("/hello").await;
    assert!(answer.header("access-control-expose-headers").unwrap().contains("x-acme-Degraded"));
}

#[tokio::test]
async fn a_prefix_that_is_no_header_name_is_refused_at_the_start() {
    for prefix in ["x\n", "x y", "x:"] {
        let refused = Listener::bind(&branded(prefix));
        assert!(matches!(refused, Err(ListenerError::HeaderPrefix { .. })), "{prefix:?}");
    }
}

#[tokio::test]
async fn can_be_switched_off() {
    let server = start(&HttpConfig { cors: false, ..settings() });
    let mut client = Client::connect(server.addr).await;
    assert_eq!(client.get("/hello").await.header("access-control-allow-origin"), None);
    let answer = client.ask(&format!("{PREFLIGHT}\r\n")).await;
    assert_eq!(answer.header("access-control-allow-methods"), None);
}
