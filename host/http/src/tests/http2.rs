//! HTTP/2 without TLS on the same port.

use super::fixture::{Client, LIMIT, TestServer, eventually, settings, start};
use crate::body::Body;
use bytes::Bytes;
use gateway_config::HttpConfig;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

struct TestResponse {
    status: StatusCode,
    headers: http::HeaderMap,
    body: Bytes,
}

async fn connect(server: &TestServer) -> (SendRequest<Body>, JoinHandle<hyper::Result<()>>) {
    let stream = TcpStream::connect(server.addr).await.unwrap();
    let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    (sender, tokio::spawn(connection))
}

async fn send(sender: &mut SendRequest<Body>, request: Request<Body>) -> TestResponse {
    let response = timeout(LIMIT, sender.send_request(request)).await.expect("no response in time").unwrap();
    let (parts, body) = response.into_parts();
    TestResponse { status: parts.status, headers: parts.headers, body: body.collect().await.unwrap().to_bytes() }
}

fn get(path: &str) -> Request<Body> {
    Request::get(format!("http://a.example{path}")).body(Body::Empty).unwrap()
}

#[tokio::test]
async fn works_by_prior_knowledge_on_the_same_port() {
    let server = start(&settings());
    let (mut sender, _connection) = connect(&server).await;
    let response = send(&mut sender, get("/who")).await;
    assert_eq!(response.status, 200);
    assert!(response.body.ends_with(b" a.example"), "{:?}", response.body);
    assert!(response.headers.contains_key("x-request-id"));
    let post = Request::post("http://a.example/echo").body(Body::from("over two")).unwrap();
    assert_eq!(send(&mut sender, post).await.body, "over two");
    assert_eq!(Client::connect(server.addr).await.get("/hello").await.status, 200);
}

#[tokio::test]
async fn a_host_that_contradicts_the_authority_is_refused() {
    let server = start(&settings());
    let (mut sender, _connection) = connect(&server).await;
    let mut request = get("/hello");
    request.headers_mut().insert("host", "b.example".parse().unwrap());
    assert_eq!(send(&mut sender, request).await.status, 400);
    let mut request = get("/hello");
    request.headers_mut().insert("host", "A.example".parse().unwrap());
    assert_eq!(send(&mut sender, request).await.status, 200);
}

#[tokio::test]
async fn a_scheme_that_is_not_of_http_is_refused() {
    let server = start(&settings());
    let (mut sender, _connection) = connect(&server).await;
    for (scheme, status) in [("ftp", 400), ("https", 200)] {
        let request = Request::get(format!("{scheme}://a.example/hello")).body(Body::Empty).unwrap();
        assert_eq!(send(&mut sender, request).await.status, status, "{scheme}");
    }
}

#[tokio::test]
async fn a_head_response_has_no_body() {
    let server = start(&settings());
    let (mut sender, _connection) = connect(&server).await;
    let mut request = get("/hello");
    *request.method_mut() = Method::HEAD;
    let response = send(&mut sender, request).await;
    assert_eq!((response.status.as_u16(), &response.headers["content-length"]), (200, &"5".parse().unwrap()));
    assert!(response.body.is_empty());
}

#[tokio::test]
async fn a_stop_finishes_streams_and_sends_goaway() {
    let server = start(&settings());
    let (mut sender, connection) = connect(&server).await;
    let waiting = tokio::spawn(sender.send_request(get("/wait")));
    assert_eq!(send(&mut sender, get("/hello")).await.status, 200);
    server.shutdown.cancel();
    eventually("the client hears the goodbye", || {
        let refused = timeout(LIMIT, sender.send_request(get("/hello")));
        async move { refused.await.expect("no response in time").is_err() }
    })
    .await;
    server.gate.notify_one();
    let response = timeout(LIMIT, waiting).await.expect("no response in time").unwrap().unwrap();
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "waited");
    timeout(LIMIT, connection).await.expect("the connection stays open").unwrap().unwrap();
    assert_eq!(timeout(LIMIT, server.serve_task).await.expect("serve does not end").unwrap().aborted, 0);
}

#[tokio::test]
async fn an_idle_connection_is_closed_with_goaway() {
    let server = start(&HttpConfig { idle_timeout_ms: 200, ..settings() });
    let (mut sender, connection) = connect(&server).await;
    assert_eq!(send(&mut sender, get("/hello")).await.status, 200);
    timeout(LIMIT, connection).await.expect("the connection stays open").unwrap().expect("closed without goodbye");
}

#[tokio::test]
async fn a_body_that_does_not_arrive_gets_408() {
    let server = start(&HttpConfig { body_timeout_ms: 100, ..settings() });
    let (mut sender, _connection) = connect(&server).await;
    let never = http_body_util::StreamBody::new(futures_util::stream::pending::<Result<_, std::io::Error>>());
    let post = Request::post("http://a.example/echo").body(Body::boxed(never)).unwrap();
    assert_eq!(send(&mut sender, post).await.status, 408);
}

#[tokio::test]
async fn can_be_switched_off() {
    let server = start(&HttpConfig { http2: false, ..settings() });
    let (mut sender, _connection) = connect(&server).await;
    let refused = timeout(LIMIT, sender.send_request(get("/hello"))).await.expect("no response in time");
    assert!(refused.is_err());
    assert_eq!(Client::connect(server.addr).await.get("/hello").await.status, 200);
}
