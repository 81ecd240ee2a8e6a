//! Time limits on head, body, handler and idle connections.

use super::fixture::{Client, LIMIT, settings, start};
use gateway_config::HttpConfig;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

fn short_timeouts() -> HttpConfig {
    HttpConfig {
        header_read_timeout_ms: 150,
        idle_timeout_ms: 400,
        body_timeout_ms: 150,
        request_timeout_ms: 1000,
        ..settings()
    }
}

/// Sends byte after byte of an endless request until the gateway responds or closes.
async fn drip(client: &mut Client) -> Duration {
    let started_at = Instant::now();
    let mut byte = [0];
    loop {
        let silence = timeout(Duration::from_millis(10), client.stream.peek(&mut byte)).await;
        if silence.is_ok() || client.stream.write_all(b"x").await.is_err() {
            return started_at.elapsed();
        }
        assert!(started_at.elapsed() < LIMIT, "the connection stays open");
    }
}

#[tokio::test]
async fn closes_a_client_that_sends_nothing() {
    let server = start(&short_timeouts());
    let started_at = Instant::now();
    Client::connect(server.addr).await.expect_close().await;
    assert!((100..2000).contains(&started_at.elapsed().as_millis()), "{:?}", started_at.elapsed());
}

#[tokio::test]
async fn a_slow_head_gets_408() {
    let server = start(&short_timeouts());
    let mut client = Client::connect(server.addr).await;
    client.send("GET /hello HTTP/1.1\r\nhost: a\r\nx: ").await;
    let open_for = drip(&mut client).await;
    assert!((100..2000).contains(&open_for.as_millis()), "{open_for:?}");
    let response = client.response().await;
    assert_eq!((response.status, &*response.code()), (408, "head_timeout"));
    assert_eq!(response.header("connection"), Some("close"));
    client.expect_close().await;
}

#[tokio::test]
async fn a_slow_second_head_gets_408() {
    let server = start(&short_timeouts());
    let mut client = Client::connect(server.addr).await;
    assert_eq!(client.get("/hello").await.status, 200);
    client.send("GET /hello HTTP/1.1\r\nhost: a\r\nx: ").await;
    let open_for = drip(&mut client).await;
    assert!((100..2000).contains(&open_for.as_millis()), "{open_for:?}");
    assert_eq!(client.response().await.status, 408);
}

#[tokio::test]
async fn an_incomplete_http2_preface_gets_408() {
    let server = start(&short_timeouts());
    let mut client = Client::connect(server.addr).await;
    client.send("PRI * HTTP/2").await;
    assert_eq!(client.response().await.status, 408);
    client.expect_close().await;
}

#[tokio::test]
async fn a_slow_body_gets_408() {
    let server = start(&short_timeouts());
    let mut client = Client::connect(server.addr).await;
    client.send("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 10000\r\n\r\n").await;
    let open_for = drip(&mut client).await;
    let response = client.response().await;
    assert_eq!((response.status, &*response.code()), (408, "body_timeout"));
    assert_eq!(response.header("connection"), Some("close"));
    assert!((100..2000).contains(&open_for.as_millis()), "{open_for:?}");
    client.expect_close().await;
}

#[tokio::test]
async fn closes_an_idle_connection_after_its_timeout() {
    let server = start(&short_timeouts());
    let mut client = Client::connect(server.addr).await;
    assert_eq!(client.get("/hello").await.status, 200);
    assert_eq!(client.get("/hello").await.status, 200);
    let started_at = Instant::now();
    client.expect_close().await;
    // Longer than the header timeout: silence between requests is no slow head.
    assert!((350..3000).contains(&started_at.elapsed().as_millis()), "{:?}", started_at.elapsed());
}

#[tokio::test]
async fn a_running_request_is_neither_idle_nor_a_slow_head() {
    let server = start(&HttpConfig { request_timeout_ms: 60_000, ..short_timeouts() });
    let mut client = Client::connect(server.addr).await;
    // The begin of a second head waits behind the first request.
    client.send("GET /wait HTTP/1.1\r\nhost: a\r\n\r\nGET /hello HTTP/1.1\r\n").await;
    let mut byte = [0];
    let silent = timeout(Duration::from_millis(900), client.stream.peek(&mut byte)).await;
    assert!(silent.is_err(), "cut while the request was at work");
    server.gate.notify_one();
    assert_eq!(client.response().await.text(), "waited");
    assert_eq!(client.request("host: a\r\n\r\n").await.text(), "hello");
}

#[tokio::test]
async fn a_slow_handler_gets_504() {
    let server = start(&HttpConfig { request_timeout_ms: 100, ..settings() });
    let mut client = Client::connect(server.addr).await;
    let response = client.get("/never").await;
    assert_eq!((response.status, &*response.code()), (504, "timeout"));
    assert_eq!(client.get("/hello").await.status, 200, "the connection lives on");
}

#[tokio::test]
async fn closes_a_client_that_does_not_read_its_response() {
    let server = start(&short_timeouts());
    let mut client = Client::connect(server.addr).await;
    client.send("GET /flood HTTP/1.1\r\nhost: a\r\n\r\n").await;
    // Not reading: the buffers of both kernels fill, then nothing moves. The flood itself would never end.
    let cut = timeout(LIMIT, async {
        loop {
            let error = client.stream.take_error().unwrap();
            if error.is_some() || client.stream.write_all(b"x").await.is_err() {
                return;
            }
            tokio::task::yield_now().await;
        }
    });
    cut.await.expect("the connection stays open");
    let mut rest = Vec::new();
    let _ = timeout(LIMIT, client.stream.read_to_end(&mut rest)).await.expect("the flood goes on");
}
