//! Event streams on HTTP/1.1, which the connection sends without hyper: on the wire nobody sees the difference.

use super::fixture::{Client, LIMIT, eventually, settings, start};
use gateway_config::HttpConfig;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

const LIVE: &str = "GET /live HTTP/1.1\r\nhost: a\r\n\r\n";
const WAITING: &str = "GET /live.waiting HTTP/1.1\r\nhost: a\r\n\r\n";
const LAST: &str = "GET /hello HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
const HELLO: &str = "GET /hello HTTP/1.1\r\nhost: a\r\n\r\n";

/// Reads until the first event has arrived; returns what was read.
async fn read_first_event(client: &mut Client) -> String {
    let mut read = Vec::new();
    let first = timeout(LIMIT, async {
        while !read.ends_with(b"data: first\n\n\r\n") {
            assert_ne!(client.stream.read_buf(&mut read).await.unwrap(), 0, "the connection ended");
        }
    });
    first.await.expect("no event");
    String::from_utf8(read).unwrap()
}

#[tokio::test]
async fn has_the_head_and_the_chunks_of_any_other_response() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    let live = client.get("/live").await;
    assert_eq!(live.text(), "data: x\n\n".repeat(1000));
    // The same stream, sent by hyper.
    let events = client.get("/events").await;
    let names = |headers: &http::HeaderMap| {
        let mut names: Vec<String> = headers.keys().map(ToString::to_string).collect();
        names.sort();
        names
    };
    assert_eq!((live.status, names(&live.headers)), (events.status, names(&events.headers)));
    assert_eq!(live.header("transfer-encoding"), Some("chunked"));
    let date = httpdate::parse_http_date(live.header("date").unwrap()).unwrap();
    assert!(date.elapsed().unwrap_or_default() < Duration::from_secs(5), "{date:?}");
}

#[tokio::test]
async fn the_next_request_is_answered_on_the_same_connection() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    for _ in 0..3 {
        assert_eq!(client.get("/live").await.status, 200);
        assert_eq!(client.get("/hello").await.text(), "hello");
    }
    client.send("BAD\r\n\r\n").await;
    assert_eq!(client.response().await.status, 400, "the refusal belongs to its request");
}

#[tokio::test]
async fn requests_that_arrive_together_are_answered_in_their_order() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client.send([HELLO, LIVE, HELLO, LIVE, LIVE, HELLO].concat()).await;
    for is_live in [false, true, false, true, true, false] {
        let expected = if is_live { "data: x\n\n".repeat(1000) } else { "hello".to_owned() };
        assert_eq!(client.response().await.text(), expected);
    }
}

/// What came before a stream, and the client has not read yet, is not lost: heads without a body, which hyper keeps however many
/// they are.
#[tokio::test]
async fn responses_before_a_stream_leave_first() {
    const HEADS: usize = 20_000;
    let server = start(&settings());
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let (mut from, mut to) = socket.connect(server.addr).await.unwrap().into_split();
    let requests = ["HEAD /hello HTTP/1.1\r\nhost: a\r\n\r\n".repeat(HEADS).as_str(), LIVE, LAST].concat();
    let sending = tokio::spawn(async move { to.write_all(requests.as_bytes()).await.map(|()| to) });
    // The client reads only when it has sent everything, or the gateway reads no more.
    let sending = timeout(Duration::from_secs(1), sending).await;
    let mut read = String::new();
    timeout(LIMIT, from.read_to_string(&mut read)).await.expect("the responses do not end").unwrap();
    assert_eq!(read.matches("HTTP/1.1 200 OK\r\n").count(), HEADS + 2);
    assert!(read.ends_with("hello"), "the last response is missing");
    drop(sending);
}

#[tokio::test]
async fn a_client_that_asks_to_close_is_told_and_closed() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    let response = client.get_with("/live", "connection: Keep-Alive, Close\r\n").await;
    assert_eq!(response.header("connection"), Some("close"));
    assert_eq!(response.text().len(), 9000);
    client.expect_close().await;
}

#[tokio::test]
async fn a_stream_that_breaks_off_has_no_last_chunk() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client.send("GET /live.broken HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut read = String::new();
    timeout(LIMIT, client.stream.read_to_string(&mut read)).await.expect("the connection stays open").unwrap();
    assert!(read.ends_with("d\r\ndata: first\n\n\r\n"), "{read}");
}

#[tokio::test]
async fn the_stream_ends_with_its_client() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client.send(WAITING).await;
    read_first_event(&mut client).await;
    drop(client);
    server.shutdown.cancel();
    let drained = timeout(LIMIT, server.serve_task).await.expect("streams without a client go on").unwrap();
    assert_eq!(drained.aborted, 0);
}

#[tokio::test]
async fn a_stop_waits_for_the_end_of_a_stream_and_closes() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client.send([WAITING, HELLO].concat()).await;
    let head = read_first_event(&mut client).await;
    assert!(!head.contains("connection: close"), "{head}");
    server.shutdown.cancel();
    eventually("new connections are refused", || async { TcpStream::connect(server.addr).await.is_err() }).await;
    server.gate.notify_one();
    let mut rest = String::new();
    timeout(LIMIT, client.stream.read_to_string(&mut rest)).await.expect("the connection stays open").unwrap();
    assert_eq!(rest, "0\r\n\r\n", "no request is answered after the stop");
    assert_eq!(timeout(LIMIT, server.serve_task).await.unwrap().unwrap().aborted, 0);
}

#[tokio::test]
async fn http_1_0_and_head_get_what_they_can_read() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client.send("HEAD /live HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(client.head_response().await.status, 200);
    client.send("GET /live HTTP/1.0\r\nhost: a\r\n\r\n").await;
    let mut read = String::new();
    timeout(LIMIT, client.stream.read_to_string(&mut read)).await.expect("the connection stays open").unwrap();
    let (head, body) = read.split_once("\r\n\r\n").unwrap();
    assert!(!head.contains("chunked"), "{head}");
    assert_eq!(body, "data: x\n\n".repeat(1000));
}

#[tokio::test]
async fn a_request_with_a_body_is_read_to_its_end() {
    let server = start(&settings());
    let mut client = Client::connect(server.addr).await;
    client.send("GET /live HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello").await;
    assert_eq!(client.response().await.text().len(), 9000);
    assert_eq!(client.get("/hello").await.text(), "hello");
}

/// A connection whose client is silent for a while gives hyper's buffers back, and nobody sees it.
#[tokio::test]
async fn an_idle_connection_goes_on_as_before() {
    let server = start(&HttpConfig { header_read_timeout_ms: 30, idle_timeout_ms: 2000, ..settings() });
    let mut client = Client::connect(server.addr).await;
    for _ in 0..4 {
        assert_eq!(client.get("/hello").await.text(), "hello");
        // The connection is checked meanwhile, at the time of a header.
        let mut byte = [0];
        let silence = timeout(Duration::from_millis(80), client.stream.peek(&mut byte)).await;
        assert!(silence.is_err(), "an idle connection was closed");
    }
    let idle_since = Instant::now();
    client.expect_close().await;
    assert!(idle_since.elapsed() > Duration::from_secs(1), "closed after {:?}", idle_since.elapsed());
}
