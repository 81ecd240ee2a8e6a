//! What a connection holds while it waits.

use super::fixture::{settings, start};
use crate::body::{Body, RequestBody};
use crate::connection::{ConnectionSettings, Plain, serve_connection};
use crate::middleware::{ExposedHeaders, stack};
use gateway_config::HttpConfig;
use http::{Request, Response};
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tower::service_fn;

/// Thousands of connections are open at once. (hyper's own part is more than half of it.)
const CONNECTION_BYTES_MAX: usize = 6 * 1024;

#[tokio::test]
async fn the_task_of_a_connection_is_small() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let gateway =
        service_fn(|_: Request<RequestBody>| std::future::ready(Ok::<_, Infallible>(Response::new(Body::Empty))));
    let http = settings();
    let service = stack(&http, Duration::from_secs(1), ExposedHeaders::new("x").unwrap(), gateway);
    let connection_settings = Arc::new(ConnectionSettings::new(&http));
    let (peer, stop) = (IpAddr::V4(Ipv4Addr::LOCALHOST), CancellationToken::new());
    let connection = serve_connection(stream, peer, Plain, service, connection_settings, stop, ());
    let bytes = size_of_val(&connection);
    assert!(bytes <= CONNECTION_BYTES_MAX, "the task of a connection takes {bytes} bytes");
}

/// Of the memory of a process in pages.
fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Connections that have asked for this, and have got the first bytes of the response.
async fn open(addr: SocketAddr, path: &str, count: usize) -> Vec<TcpStream> {
    let head = format!("GET {path} HTTP/1.1\r\nhost: a\r\nuser-agent: reader\r\n\r\n");
    let mut clients = Vec::with_capacity(count);
    for _ in 0..count {
        let mut client = TcpStream::connect(addr).await.unwrap();
        client.write_all(head.as_bytes()).await.unwrap();
        let mut first = [0; 1024];
        assert_ne!(client.read(&mut first).await.unwrap(), 0);
        clients.push(client);
    }
    clients
}

/// With both ends of the connection, and the layout of a build that is not optimised.
const READER_BYTES_MAX: usize = 6 * 1024;
const IDLE_BYTES_MAX: usize = 4 * 1024;
const READERS: usize = 1500;

#[tokio::test]
async fn a_reader_of_an_event_stream_is_small() {
    let limits = HttpConfig { connections_max: 4000, connections_per_ip_max: 4000, ..settings() };
    let server = start(&limits);
    let _first = open(server.addr, "/live.waiting", 300).await;
    let before = resident_bytes();
    let _more = open(server.addr, "/live.waiting", READERS).await;
    let bytes = (resident_bytes() - before) / READERS;
    println!("{bytes} bytes for a reader");
    assert!(bytes <= READER_BYTES_MAX, "a reader takes {bytes} bytes");
}

/// A connection is checked at the time of a header, and then gives hyper's buffers back: the next ones get that memory.
#[tokio::test]
async fn an_idle_connection_is_small() {
    let limits =
        HttpConfig { connections_max: 4000, connections_per_ip_max: 4000, header_read_timeout_ms: 50, ..settings() };
    let server = start(&limits);
    let mut idle = Vec::new();
    let mut before = 0;
    for batch in 0..9 {
        if batch == 3 {
            before = resident_bytes();
        }
        idle.push(open(server.addr, "/hello", READERS / 6).await);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let bytes = (resident_bytes() - before) / READERS;
    println!("{bytes} bytes for an idle connection");
    assert!(bytes <= IDLE_BYTES_MAX, "an idle connection takes {bytes} bytes");
}
