//! Request bodies: sized and chunked, and the size limit before and while they arrive.

use super::fixture::{Client, ECHO_BYTES_MAX, settings, start};
use crate::body::{Body, BodyError, RequestBody};
use bytes::Bytes;
use http_body_util::BodyExt;

#[tokio::test]
async fn reads_sized_and_chunked_bodies() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    let long = "x".repeat(ECHO_BYTES_MAX);
    for body in ["", "short", &long] {
        let sized = format!("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        assert_eq!(client.request(&sized).await.text(), body);
        let last = if body.is_empty() { String::new() } else { format!("{:x}\r\n{body}\r\n", body.len()) };
        let chunked = format!("POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n{last}0\r\n\r\n");
        assert_eq!(client.request(&chunked).await.text(), body);
    }
}

#[tokio::test]
async fn refuses_by_the_announced_length_before_the_body_is_sent() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    let request = format!(
        "POST /echo HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        ECHO_BYTES_MAX + 1
    );
    let response = client.request(&request).await;
    assert_eq!((response.status, &*response.code()), (413, "too_large"));
    assert_eq!(response.header("connection"), Some("close"));
    client.expect_close().await;
}

#[tokio::test]
async fn sends_100_continue_for_a_body_that_fits() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    let invited =
        client.request_continue("POST /echo HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
    invited.await;
    assert_eq!(client.request("ok").await.text(), "ok");
}

/// The client sends its whole body before it reads. Without the lingering close it would get a reset instead of its 413.
#[tokio::test]
async fn a_413_reaches_a_client_that_is_still_sending() {
    let server = start(&settings());
    for _ in 0..5 {
        let mut client = Client::connect_unbuffered(server.addr).await;
        let body = vec![b'x'; 2 * 1024 * 1024];
        client.send(format!("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n", body.len())).await;
        client.send(&body).await;
        assert_eq!(client.response().await.status, 413);
        client.expect_close().await;
    }
}

#[tokio::test]
async fn refuses_a_chunked_body_when_it_has_become_too_large() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client.send("POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n").await;
    let chunk = format!("{:x}\r\n{}\r\n", 60_000, "x".repeat(60_000));
    client.send(&chunk).await;
    client.send(&chunk).await;
    assert_eq!(client.response().await.status, 413);
}

#[tokio::test]
async fn a_head_response_keeps_the_length_and_sends_no_body() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client.send("HEAD /hello HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let response = client.head_response().await;
    assert_eq!((response.status, response.header("content-length")), (200, Some("5")));
    client.send("HEAD /stream HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(client.head_response().await.header("content-length"), None);
    client.send("HEAD /missing HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(client.head_response().await.status, 404);
    assert_eq!(client.get("/hello").await.text(), "hello", "no byte of a body was sent");
}

#[tokio::test]
async fn reads_known_bytes_within_the_limit() {
    let body = || RequestBody::from(Bytes::from_static(b"12345"));
    assert_eq!(body().read_limited(5).await.unwrap(), "12345");
    assert!(matches!(body().read_limited(4).await, Err(BodyError::TooLarge { max_bytes: 4 })));
    assert_eq!(RequestBody::from(Bytes::new()).read_limited(0).await.unwrap(), "");
}

#[tokio::test]
async fn a_body_yields_its_bytes_once() {
    let full = Body::from("abc");
    assert_eq!(http_body::Body::size_hint(&full).exact(), Some(3));
    assert_eq!(full.collect().await.unwrap().to_bytes(), "abc");
    let boxed = Body::boxed(Body::from("abc"));
    assert_eq!(boxed.collect().await.unwrap().to_bytes(), "abc");
    assert!(http_body::Body::is_end_stream(&Body::from("")));
}
