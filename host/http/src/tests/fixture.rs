//! A served listener with a small gateway behind it, and a client that speaks raw HTTP/1.

use crate::body::{Body, RequestBody};
use crate::{ClientIp, DrainReport, Listener, ListenerSettings, RequestId, RouteLabel};
use bytes::Bytes;
use futures_util::StreamExt as _;
use gateway_activity::BypassBytes;
use gateway_config::HttpConfig;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, ETAG, HOST};
use http::{HeaderMap, Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tower::service_fn;

/// The time after which a test fails.
pub const LIMIT: Duration = Duration::from_secs(10);
pub const ECHO_BYTES_MAX: usize = 100_000;

pub struct TestServer {
    pub addr: SocketAddr,
    /// Lets `/wait` respond.
    pub gate: Arc<Notify>,
    pub shutdown: CancellationToken,
    pub serve_task: JoinHandle<DrainReport>,
}

pub fn settings() -> HttpConfig {
    HttpConfig { listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), tarpit_ms: 0, ..HttpConfig::default() }
}

/// The response timeout is the configured time limit.
pub fn listener_settings(http: &HttpConfig) -> ListenerSettings {
    let response_timeout = Duration::from_millis(http.request_timeout_ms);
    ListenerSettings { http: http.clone(), response_timeout, header_prefix: "X-Service".to_owned(), tls: None }
}

pub fn start(http: &HttpConfig) -> TestServer {
    serve(&listener_settings(http))
}

pub fn serve(settings: &ListenerSettings) -> TestServer {
    let gate = Arc::new(Notify::new());
    let listener = Listener::bind(settings).unwrap();
    let addr = listener.local_addr();
    let shutdown = CancellationToken::new();
    let gateway = {
        let gate = Arc::clone(&gate);
        service_fn(move |request| gateway(Arc::clone(&gate), request))
    };
    let serve_task = tokio::spawn(listener.serve(gateway, shutdown.clone()));
    TestServer { addr, gate, shutdown, serve_task }
}

async fn gateway(gate: Arc<Notify>, request: Request<RequestBody>) -> Result<Response<Body>, Infallible> {
    let response = match request.uri().path() {
        "/hello" => labelled(Response::new(Body::from("hello"))),
        "/who" => who(&request),
        "/echo" => match request.into_body().read_limited(ECHO_BYTES_MAX).await {
            Ok(bytes) => Response::new(Body::from(bytes)),
            Err(error) => error.into_response(),
        },
        "/wait" => {
            gate.notified().await;
            Response::new(Body::from("waited"))
        }
        "/never" => std::future::pending().await,
        "/panic" => panic!("secret of the handler"),
        "/large" => typed("application/json", Body::from(large_text())),
        "/large.png" => typed("image/png", Body::from(large_text())),
        "/large.br" => {
            let mut response = typed("application/json", Body::from(large_text()));
            response.headers_mut().insert(CONTENT_ENCODING, "br".parse().unwrap());
            response
        }
        "/stream" => typed("text/plain", stream_of("line\n", 1000)),
        "/events" => typed("text/event-stream", stream_of("data: x\n\n", 1000)),
        "/live" => live(stream_of("data: x\n\n", 1000)),
        "/live.waiting" => live(first_line_then(async move {
            gate.notified().await;
            None
        })),
        "/live.broken" => live(first_line_then(async { Some(Err(io::Error::other("broken"))) })),
        "/flood" => typed("application/octet-stream", flood()),
        _ => crate::problem::problem_response(http::StatusCode::NOT_FOUND, "not_found", "no such route", ""),
    };
    Ok(response)
}

pub fn large_text() -> String {
    "{\"key\":\"value\"},".repeat(400)
}

fn labelled(mut response: Response<Body>) -> Response<Body> {
    let label = RouteLabel { plugin: Arc::from("hello"), operation: Arc::from("say_hello"), path: None };
    response.extensions_mut().insert(label);
    response
}

fn typed(content_type: &str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, content_type.parse().unwrap());
    response.headers_mut().insert(ETAG, "\"v1\"".parse().unwrap());
    response
}

fn who(request: &Request<RequestBody>) -> Response<Body> {
    let ClientIp(ip) = *request.extensions().get().unwrap();
    let id: &RequestId = request.extensions().get().unwrap();
    let host = request.headers().get(HOST).map_or("none", |host| host.to_str().unwrap());
    Response::new(Body::from(format!("{ip} {} {host}", id.0)))
}

fn stream_of(line: &'static str, count: usize) -> Body {
    let frames = (0..count).map(move |_| Ok::<_, io::Error>(Frame::data(Bytes::from_static(line.as_bytes()))));
    Body::boxed(StreamBody::new(futures_util::stream::iter(frames)))
}

/// As the gateway marks the stream of a topic.
fn live(body: Body) -> Response<Body> {
    let mut response = typed("text/event-stream", body);
    response.extensions_mut().insert(BypassBytes::default());
    response
}

fn first_line_then(next: impl Future<Output = Option<io::Result<Frame<Bytes>>>> + Send + 'static) -> Body {
    let first = futures_util::stream::iter([Ok(Frame::data(Bytes::from_static(b"data: first\n\n")))]);
    let rest = futures_util::stream::once(next).filter_map(std::future::ready);
    Body::boxed(StreamBody::new(first.chain(rest)))
}

fn flood() -> Body {
    let frame = Bytes::from(vec![7; 64 * 1024]);
    let frames = std::iter::repeat_with(move || Ok::<_, io::Error>(Frame::data(frame.clone())));
    Body::boxed(StreamBody::new(futures_util::stream::iter(frames)))
}

/// One raw connection.
pub struct Client {
    pub stream: TcpStream,
    buffer: Vec<u8>,
}

#[derive(Debug)]
pub struct TestResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl TestResponse {
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The machine code of an error response, after checking that the response is the one error body.
    pub fn code(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/json"));
        let body: serde_json::Value = serde_json::from_slice(&self.body).unwrap();
        assert!(body["error"].is_string(), "{body}");
        body["code"].as_str().unwrap().to_owned()
    }
}

impl Client {
    pub async fn connect(addr: SocketAddr) -> Self {
        Self { stream: TcpStream::connect(addr).await.unwrap(), buffer: Vec::new() }
    }

    /// With a small send buffer, so that the client cannot finish a large body before the gateway reads it.
    pub async fn connect_unbuffered(addr: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_send_buffer_size(16 * 1024).unwrap();
        Self { stream: socket.connect(addr).await.unwrap(), buffer: Vec::new() }
    }

    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
    }

    pub async fn get(&mut self, path: &str) -> TestResponse {
        self.get_with(path, "").await
    }

    /// `headers`: complete lines with their CR LF.
    pub async fn get_with(&mut self, path: &str, headers: &str) -> TestResponse {
        self.send(format!("GET {path} HTTP/1.1\r\nhost: test\r\n{headers}\r\n")).await;
        self.response().await
    }

    pub async fn request(&mut self, request: &str) -> TestResponse {
        self.send(request).await;
        self.response().await
    }

    /// Sends the head and expects `100 Continue`.
    pub async fn request_continue(&mut self, request: &str) {
        const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";
        self.send(request).await;
        let read = timeout(LIMIT, self.read_exactly(CONTINUE.len())).await.expect("no 100 Continue");
        assert_eq!(read, CONTINUE.as_bytes());
    }

    pub async fn response(&mut self) -> TestResponse {
        self.next_response(false).await.expect("the connection ended without a response")
    }

    pub async fn head_response(&mut self) -> TestResponse {
        self.next_response(true).await.expect("the connection ended without a response")
    }

    /// Expects the end of the connection, or a reset, without further bytes.
    pub async fn expect_close(&mut self) {
        let rest = timeout(LIMIT, async {
            let mut rest = Vec::new();
            // A reset is an end too.
            let _ = self.stream.read_to_end(&mut rest).await;
            rest
        });
        let rest = rest.await.expect("the connection stays open");
        assert!(rest.is_empty() && self.buffer.is_empty(), "unexpected bytes: {}", String::from_utf8_lossy(&rest));
    }

    async fn next_response(&mut self, to_head: bool) -> Option<TestResponse> {
        timeout(LIMIT, self.read_response(to_head)).await.expect("no response in time")
    }

    async fn read_response(&mut self, to_head: bool) -> Option<TestResponse> {
        loop {
            let mut headers = [httparse::EMPTY_HEADER; 64];
            let mut head = httparse::Response::new(&mut headers);
            if let httparse::Status::Complete(end) = head.parse(&self.buffer).unwrap() {
                let status = head.code.unwrap();
                let headers = head.headers.iter();
                let headers: HeaderMap = headers
                    .map(|h| (h.name.parse().unwrap(), http::HeaderValue::from_bytes(h.value).unwrap()))
                    .collect();
                self.buffer.drain(..end);
                let body = if to_head || status == 204 { Vec::new() } else { self.read_body(&headers).await };
                return Some(TestResponse { status, headers, body });
            }
            self.read_more().await?;
        }
    }

    async fn read_body(&mut self, headers: &HeaderMap) -> Vec<u8> {
        if headers.contains_key("transfer-encoding") {
            return self.read_chunks().await;
        }
        let length: usize = headers.get("content-length").unwrap().to_str().unwrap().parse().unwrap();
        self.read_exactly(length).await
    }

    async fn read_chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let httparse::Status::Complete((start, size)) = httparse::parse_chunk_size(&self.buffer).unwrap() else {
                self.read_more().await.unwrap();
                continue;
            };
            self.buffer.drain(..start);
            let size = usize::try_from(size).unwrap();
            let chunk = self.read_exactly(size + 2).await;
            body.extend_from_slice(&chunk[..size]);
            if size == 0 {
                return body;
            }
        }
    }

    async fn read_exactly(&mut self, length: usize) -> Vec<u8> {
        while self.buffer.len() < length {
            self.read_more().await.expect("the body ended early");
        }
        self.buffer.drain(..length).collect()
    }

    async fn read_more(&mut self) -> Option<()> {
        let read = self.stream.read_buf(&mut self.buffer).await.ok()?;
        (read > 0).then_some(())
    }
}

/// Polls until the condition is true.
pub async fn eventually<F: Future<Output = bool>>(what: &str, mut condition: impl FnMut() -> F) {
    let started_at = Instant::now();
    while !condition().await {
        assert!(started_at.elapsed() < LIMIT, "never: {what}");
        tokio::task::yield_now().await;
    }
}
