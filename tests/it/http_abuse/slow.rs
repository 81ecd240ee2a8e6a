//! Clients that keep a connection open and send or read almost nothing.

use super::abuse::{connect, connect_with_small_buffer, receive, says};
use futures_util::future::BoxFuture;
use std::{net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncWriteExt as _, Interest},
    net::TcpStream,
};

/// What a client's kernel takes at most of what the client does not read; the answer alone has more.
const UNREAD_BYTES_MAX: usize = 64 * 1024;
const DRIP: Duration = Duration::from_millis(50);

pub fn head(gateway: SocketAddr) -> BoxFuture<'static, Vec<u8>> {
    Box::pin(drip(gateway, "GET /api/health HTTP/1.1\r\nhost: a\r\nx: "))
}

pub fn body(gateway: SocketAddr) -> BoxFuture<'static, Vec<u8>> {
    Box::pin(drip(gateway, "POST /api/forum/threads HTTP/1.1\r\nhost: a\r\ncontent-length: 10000\r\n\r\n{"))
}

/// Sends many requests and reads nothing.
pub fn reader(gateway: SocketAddr) -> BoxFuture<'static, Vec<u8>> {
    Box::pin(async move {
        let mut stream = connect_with_small_buffer(gateway).await;
        let requests = "GET /api/openapi.json HTTP/1.1\r\nhost: a\r\n\r\n".repeat(1000);
        // Blocks when the gateway, which cannot write, reads no further; ends when it has enough.
        while stream.write_all(requests.as_bytes()).await.is_ok() {}
        // Reads what had arrived in the small buffer before the gateway closed the connection.
        receive(&mut stream).await
    })
}

/// The head of an answer, and no more of it than the client had room for.
pub fn is_cut_off(received: &[u8]) -> bool {
    says(received, "200") && received.len() < UNREAD_BYTES_MAX
}

pub fn silent(gateway: SocketAddr) -> BoxFuture<'static, Vec<u8>> {
    Box::pin(async move { receive(&mut connect(gateway).await).await })
}

pub fn idle(gateway: SocketAddr) -> BoxFuture<'static, Vec<u8>> {
    Box::pin(async move {
        let mut stream = connect(gateway).await;
        let _ = stream.write_all(b"GET /api/health HTTP/1.1\r\nhost: a\r\n\r\n").await;
        receive(&mut stream).await
    })
}

async fn drip(gateway: SocketAddr, begin: &str) -> Vec<u8> {
    let mut stream = connect(gateway).await;
    let _ = stream.write_all(begin.as_bytes()).await;
    while !has_news(&stream).await && stream.write_all(b"x").await.is_ok() {}
    receive(&mut stream).await
}

/// Whether there is something to read, or the end, before the next byte is due.
async fn has_news(stream: &TcpStream) -> bool {
    tokio::time::timeout(DRIP, stream.ready(Interest::READABLE)).await.is_ok()
}
