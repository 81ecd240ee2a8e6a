//! One request over a connection of its own.

use crate::TestResponse;
use bytes::Bytes;
use http::{Request, header::HOST};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// `base_url` is `http://IP:PORT`. Panics when no response comes.
pub async fn send(
    base_url: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> TestResponse {
    let address = base_url.trim_start_matches("http://");
    let mut request = Request::builder().method(method).uri(path).header(HOST, address);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(body.into()));
    let request = request.unwrap_or_else(|error| panic!("{method} {path} is no request: {error}"));
    exchange(address, request).await.unwrap_or_else(|error| panic!("{method} {base_url}{path}: {error}"))
}

type AnyError = Box<dyn std::error::Error + Send + Sync>;

async fn exchange(address: &str, request: Request<Full<Bytes>>) -> Result<TestResponse, AnyError> {
    let stream = TcpStream::connect(address).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let (parts, body) = sender.send_request(request).await?.into_parts();
    let body = body.collect().await?.to_bytes();
    connection.abort();
    Ok(TestResponse { status: parts.status.as_u16(), headers: parts.headers, body })
}
