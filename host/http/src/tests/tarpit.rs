//! Who is refused for doing too much waits; nobody else does.

use super::fixture::{Client, settings, start};
use gateway_config::HttpConfig;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

const PAUSE_MS: u64 = 4000;
const MUCH_LESS: Duration = Duration::from_millis(300);
/// Preface, settings, and a frame on a stream that was never opened.
const MISUSE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\x07";

const GOAWAY: u8 = 7;

/// RFC 9113 §4.1: three bytes of length, the kind, five more, the payload.
fn kinds_of_frames(mut bytes: &[u8]) -> Vec<u8> {
    let mut kinds = Vec::new();
    while let [a, b, c, kind, _, _, _, _, _, rest @ ..] = bytes {
        kinds.push(*kind);
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        bytes = rest.get(length..).unwrap_or_default();
    }
    kinds
}

fn with_pause() -> HttpConfig {
    HttpConfig { tarpit_ms: PAUSE_MS, ..settings() }
}

#[tokio::test]
async fn what_is_no_http_is_answered_after_a_pause_in_which_others_are_served() {
    let server = start(&with_pause());
    let mut client = Client::connect(server.addr).await;
    let begun = Instant::now();
    client.send("GET /hello HTTP/1.1\r\nhost: a\r\nno colon\r\n\r\n").await;
    assert!(timeout(MUCH_LESS, client.stream.peek(&mut [0])).await.is_err(), "answered at once");
    assert_eq!(Client::connect(server.addr).await.get("/hello").await.text(), "hello");
    assert_eq!(client.answer().await.status, 400);
    assert!(begun.elapsed() >= Duration::from_millis(PAUSE_MS));
    client.ended().await;
}

#[tokio::test]
async fn whoever_breaks_the_rules_of_http2_is_told_and_waits_with_the_next_connection() {
    let server = start(&with_pause());
    let mut before = Client::connect(server.addr).await;
    assert_eq!(before.get("/hello").await.status, 200);
    let mut client = Client::connect(server.addr).await;
    let begun = Instant::now();
    client.send(MISUSE).await;
    let mut told = Vec::new();
    // A reset is an end too.
    let _ = client.stream.read_to_end(&mut told).await;
    assert!(kinds_of_frames(&told).contains(&GOAWAY), "{told:?}");
    let mut next = Client::connect(server.addr).await;
    next.send("GET /hello HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert!(timeout(MUCH_LESS, next.stream.peek(&mut [0])).await.is_err(), "served at once");
    assert_eq!(before.get("/hello").await.status, 200, "a connection that is there goes on");
    assert_eq!(next.answer().await.text(), "hello");
    assert!(begun.elapsed() >= Duration::from_millis(PAUSE_MS));
}
