//! Refused clients wait; other clients do not.

use super::fixture::{Client, settings, start};
use gateway_config::HttpConfig;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

const PAUSE_MS: u64 = 4000;
const SHORT_WAIT: Duration = Duration::from_millis(300);
/// Preface, settings, and a frame on a stream that was never opened.
const HTTP2_VIOLATION: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\x07";

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

#[tokio::test]
async fn an_http2_violation_delays_the_next_connection() {
    let server = start(&tarpit_settings());
    let mut before = Client::connect(server.addr).await;
    assert_eq!(before.get("/hello").await.status, 200);
    let mut client = Client::connect(server.addr).await;
    let started_at = Instant::now();
    client.send(HTTP2_VIOLATION).await;
    let mut received = Vec::new();
    // A reset is an end too.
    let _ = client.stream.read_to_end(&mut received).await;
    assert!(frame_types(&received).contains(&GOAWAY), "{received:?}");
    let mut next = Client::connect(server.addr).await;
    next.send("GET /hello HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert!(timeout(SHORT_WAIT, next.stream.peek(&mut [0])).await.is_err(), "served at once");
    assert_eq!(before.get("/hello").await.status, 200, "an open connection is still served");
    assert_eq!(next.response().await.text(), "hello");
    assert!(started_at.elapsed() >= Duration::from_millis(PAUSE_MS));
}
