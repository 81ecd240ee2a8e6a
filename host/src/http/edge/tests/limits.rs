//! Limits on the head of a request.

use super::fixture::{Client, settings, start};
use crate::http::edge::HttpSettings;

#[tokio::test]
async fn refuses_a_head_that_is_too_large() {
    let edge = start(&settings());
    for bytes in [20_000, 300_000] {
        let mut client = Client::connect(edge.addr).await;
        client.send(format!("GET /hello HTTP/1.1\r\nhost: a\r\nx: {}\r\n\r\n", "x".repeat(bytes))).await;
        assert_eq!(client.answer().await.status, 431);
        client.ended().await;
    }
}

#[tokio::test]
async fn refuses_too_many_headers() {
    let edge = start(&settings());
    let mut client = Client::connect(edge.addr).await;
    client.send(format!("GET /hello HTTP/1.1\r\nhost: a\r\n{}\r\n", "x: y\r\n".repeat(200))).await;
    assert_eq!(client.answer().await.status, 431);
}

#[tokio::test]
async fn accepts_a_head_within_the_limit() {
    let edge = start(&settings());
    let answer = Client::connect(edge.addr).await.get_with("/hello", &format!("x: {}\r\n", "x".repeat(15_000))).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn refuses_requests_above_the_limit_at_once() {
    let edge = start(&HttpSettings { requests_in_flight_max: 2, ..settings() });
    let mut busy = [Client::connect(edge.addr).await, Client::connect(edge.addr).await];
    for client in &mut busy {
        client.send("GET /wait HTTP/1.1\r\nhost: a\r\n\r\n").await;
    }
    let mut other = Client::connect(edge.addr).await;
    // The two have to reach their handlers first.
    let shed = loop {
        let answer = other.get("/hello").await;
        if answer.status == 503 {
            break answer;
        }
    };
    assert_eq!((&*shed.code(), shed.header("retry-after")), ("overloaded", Some("1")));
    edge.gate.notify_waiters();
    for client in &mut busy {
        assert_eq!(client.answer().await.text(), "waited");
    }
    assert_eq!(other.get("/hello").await.status, 200, "the places are free again");
}

#[tokio::test]
async fn a_stream_under_way_holds_no_place() {
    let edge = start(&HttpSettings { requests_in_flight_max: 1, ..settings() });
    let mut reader = Client::connect(edge.addr).await;
    reader.send("GET /flood HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut byte = [0];
    reader.stream.peek(&mut byte).await.unwrap();
    assert_eq!(Client::connect(edge.addr).await.get("/hello").await.status, 200);
}
