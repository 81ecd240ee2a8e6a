//! Limits on requests at work. Those on the head of a request are in [`super::heads`].

use super::fixture::{Client, settings, start};
use gateway_config::HttpConfig;

#[tokio::test]
async fn refuses_requests_above_the_limit_at_once() {
    let server = start(&HttpConfig { requests_in_flight_max: 2, ..settings() });
    let mut busy = [Client::connect(server.addr).await, Client::connect(server.addr).await];
    for client in &mut busy {
        client.send("GET /wait HTTP/1.1\r\nhost: a\r\n\r\n").await;
    }
    let mut other = Client::connect(server.addr).await;
    // The two have to reach their handlers first.
    let shed = loop {
        let answer = other.get("/hello").await;
        if answer.status == 503 {
            break answer;
        }
    };
    assert_eq!((&*shed.code(), shed.header("retry-after")), ("overloaded", Some("1")));
    server.gate.notify_waiters();
    for client in &mut busy {
        assert_eq!(client.answer().await.text(), "waited");
    }
    assert_eq!(other.get("/hello").await.status, 200, "the places are free again");
}

#[tokio::test]
async fn a_stream_under_way_holds_no_place() {
    let server = start(&HttpConfig { requests_in_flight_max: 1, ..settings() });
    let mut reader = Client::connect(server.addr).await;
    reader.send("GET /flood HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut byte = [0];
    reader.stream.peek(&mut byte).await.unwrap();
    assert_eq!(Client::connect(server.addr).await.get("/hello").await.status, 200);
}
