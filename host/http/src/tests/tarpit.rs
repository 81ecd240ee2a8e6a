//! Refused clients wait; other clients do not.

use super::fixture::{Client, LIMIT, TestServer, settings, start};
use gateway_config::HttpConfig;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

const PAUSE_MS: u64 = 4000;
const SHORT_WAIT: Duration = Duration::from_millis(300);
/// Preface, settings, and a frame on a stream that was never opened.
const HTTP2_VIOLATION: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\x07";

const HTTP2_HELLO: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
const FREE_BREACHES: usize = 10;
const GOAWAY: u8 = 7;

/// RFC 9113 §4.1: three bytes of length, the kind, five more, the payload.
fn frame_types(mut bytes: &[u8]) -> Vec<u8> {
    let mut kinds = Vec::new();
    while let [a, b, c, kind, _, _, _, _, _, rest @ ..] = bytes {
        kinds.push(*kind);
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        bytes = rest.get(length..).unwrap_or_default();
    }
    kinds
}

fn tarpit_settings() -> HttpConfig {
    HttpConfig { tarpit_ms: PAUSE_MS, ..settings() }
}

#[tokio::test]
async fn a_refused_head_waits_while_other_clients_are_served() {
    let server = start(&tarpit_settings());
    let mut client = Client::connect(server.addr).await;
    let started_at = Instant::now();
    client.send("GET /hello HTTP/1.1\r\nhost: a\r\nno colon\r\n\r\n").await;
    assert!(timeout(SHORT_WAIT, client.stream.peek(&mut [0])).await.is_err(), "answered at once");
    assert_eq!(Client::connect(server.addr).await.get("/hello").await.text(), "hello");
    assert_eq!(client.response().await.status, 400);
    assert!(started_at.elapsed() >= Duration::from_millis(PAUSE_MS));
    client.expect_close().await;
}

async fn violate(server: &TestServer) {
    let mut client = Client::connect(server.addr).await;
    client.send(HTTP2_VIOLATION).await;
    let mut received = Vec::new();
    // A reset is an end too.
    let _ = client.stream.read_to_end(&mut received).await;
    assert!(frame_types(&received).contains(&GOAWAY), "{received:?}");
}

async fn answers_at_once(client: &Client) -> bool {
    timeout(SHORT_WAIT, client.stream.peek(&mut [0])).await.is_ok()
}

async fn http2_client(server: &TestServer) -> Client {
    let mut client = Client::connect(server.addr).await;
    client.send(HTTP2_HELLO).await;
    client
}

/// An office or a carrier's NAT: one program there that breaks the rules must not slow down the others.
#[tokio::test]
async fn http2_violations_delay_only_http2_and_only_when_they_are_many() {
    let server = start(&tarpit_settings());
    for _ in 0..FREE_BREACHES {
        violate(&server).await;
    }
    assert!(answers_at_once(&http2_client(&server).await).await, "some are free");
    let started_at = Instant::now();
    violate(&server).await;
    let next = http2_client(&server).await;
    assert!(!answers_at_once(&next).await, "served at once");
    assert_eq!(Client::connect(server.addr).await.get("/hello").await.text(), "hello");
    assert!(started_at.elapsed() < Duration::from_millis(PAUSE_MS), "HTTP/1 does not wait");
    assert!(timeout(LIMIT, next.stream.peek(&mut [0])).await.is_ok());
    assert!(started_at.elapsed() >= Duration::from_millis(PAUSE_MS));
}

/// Every client of a balancer has its address.
#[tokio::test]
async fn behind_a_proxy_no_violation_delays_anybody() {
    let server = start(&HttpConfig { trusted_proxy_hops: 1, ..tarpit_settings() });
    for _ in 0..FREE_BREACHES * 2 {
        violate(&server).await;
    }
    assert!(answers_at_once(&http2_client(&server).await).await);
}
