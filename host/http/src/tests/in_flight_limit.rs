//! The limit of requests in flight.

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
        let response = other.get("/hello").await;
        if response.status == 503 {
            break response;
        }
    };
    assert_eq!((&*shed.code(), shed.header("retry-after")), ("overloaded", Some("1")));
    server.gate.notify_waiters();
    for client in &mut busy {
        assert_eq!(client.response().await.text(), "waited");
    }
    assert_eq!(other.get("/hello").await.status, 200, "the permits are free again");
}

#[tokio::test]
async fn a_running_stream_holds_no_permit() {
    let server = start(&HttpConfig { requests_in_flight_max: 1, ..settings() });
    let mut reader = Client::connect(server.addr).await;
    reader.send("GET /flood HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut byte = [0];
    reader.stream.peek(&mut byte).await.unwrap();
    assert_eq!(Client::connect(server.addr).await.get("/hello").await.status, 200);
}
