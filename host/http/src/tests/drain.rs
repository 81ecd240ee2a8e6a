//! The drain: running requests are finished, idle connections are closed, new ones are refused.

use super::fixture::{Client, LIMIT, eventually, settings, start};
use crate::DrainReport;
use gateway_config::HttpConfig;
use tokio::net::TcpStream;
use tokio::time::timeout;

#[tokio::test]
async fn finishes_running_requests_closes_idle_connections_and_refuses_new_ones() {
    let server = start(&settings());
    let mut busy = Client::connect(server.addr).await;
    busy.send("GET /wait HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut idle = Client::connect(server.addr).await;
    assert_eq!(idle.get("/hello").await.status, 200);
    let mut silent = Client::connect(server.addr).await;
    assert_eq!(Client::connect(server.addr).await.get("/hello").await.status, 200, "silent has been accepted");
    server.shutdown.cancel();
    idle.expect_close().await;
    silent.expect_close().await;
    eventually("new connections are refused", || async { TcpStream::connect(server.addr).await.is_err() }).await;
    assert!(!server.serve_task.is_finished(), "the busy one is waited for");
    server.gate.notify_one();
    let response = busy.response().await;
    assert_eq!((response.text(), response.header("connection")), ("waited".to_owned(), Some("close")));
    busy.expect_close().await;
    let drained = timeout(LIMIT, server.serve_task).await.expect("serve does not end").unwrap();
    assert_eq!(drained.aborted, 0);
}

#[tokio::test]
async fn waits_for_a_head_that_is_arriving() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client.send("GET /hello HTTP/1.1\r\n").await;
    let mut probe = Client::connect(server.addr).await;
    assert_eq!(probe.get("/hello").await.status, 200, "the begin of the head was read");
    server.shutdown.cancel();
    probe.expect_close().await;
    assert_eq!(client.request("host: a\r\n\r\n").await.text(), "hello");
    client.expect_close().await;
    assert_eq!(timeout(LIMIT, server.serve_task).await.expect("serve does not end").unwrap().aborted, 0);
}

#[tokio::test]
async fn aborts_requests_at_the_drain_timeout() {
    let server = start(&HttpConfig { drain_timeout_ms: 100, ..settings() });
    let mut busy = Client::connect(server.addr).await;
    busy.send("GET /never HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut probe = Client::connect(server.addr).await;
    assert_eq!(probe.get("/hello").await.status, 200);
    drop(probe);
    server.shutdown.cancel();
    let DrainReport { aborted, .. } = timeout(LIMIT, server.serve_task).await.expect("serve does not end").unwrap();
    assert_eq!(aborted, 1);
    busy.expect_close().await;
}

#[tokio::test]
async fn the_address_is_free_for_the_next_run() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    assert_eq!(client.get("/hello").await.status, 200);
    server.shutdown.cancel();
    timeout(LIMIT, server.serve_task).await.expect("serve does not end").unwrap();
    let again = start(&HttpConfig { listen: server.addr, ..settings() });
    assert_eq!(Client::connect(again.addr).await.get("/hello").await.status, 200);
}
