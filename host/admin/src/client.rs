//! How the command line talks to the listener of a running gateway. Rule: it waits
//! while the gateway works on a command, up to a limit.

use super::guard::CHANGE_HEADER;
use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::{net::SocketAddr, time::Duration};
use tokio::net::TcpStream;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Draining waits for requests, jobs, streams and the plugin itself, each with a limit of its own.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(600);
/// What is only looked at is there at once, or never.
const LOOK_TIMEOUT: Duration = Duration::from_secs(15);
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

pub struct ClientResponse {
    pub status: StatusCode,
    /// Null when it is no JSON.
    pub body: Value,
}

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("no gateway answers at {address}: {source}")]
    NotThere { address: SocketAddr, source: std::io::Error },
    #[error("the answer of {address} cannot be understood: {reason}")]
    Broken { address: SocketAddr, reason: String },
    #[error("{address} did not answer within {limit:?}")]
    TooLate { address: SocketAddr, limit: Duration },
}

/// Sends one change without a body.
pub async fn post(address: SocketAddr, path: &str) -> Result<ClientResponse, ClientError> {
    send(address, Method::POST, path, ANSWER_TIMEOUT).await
}

/// Looks at something.
pub async fn get(address: SocketAddr, path: &str) -> Result<ClientResponse, ClientError> {
    send(address, Method::GET, path, LOOK_TIMEOUT).await
}

async fn send(address: SocketAddr, method: Method, path: &str, limit: Duration) -> Result<ClientResponse, ClientError> {
    let connect = tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await;
    let stream = connect
        .unwrap_or_else(|_elapsed| Err(std::io::ErrorKind::TimedOut.into()))
        .map_err(|source| ClientError::NotThere { address, source })?;
    let exchange = tokio::time::timeout(limit, exchange(stream, address, method, path)).await;
    match exchange {
        Ok(Ok(reply)) => Ok(reply),
        Ok(Err(error)) => Err(ClientError::Broken { address, reason: error.to_string() }),
        Err(_elapsed) => Err(ClientError::TooLate { address, limit }),
    }
}

type AnyError = Box<dyn std::error::Error + Send + Sync>;

async fn exchange(
    stream: TcpStream,
    address: SocketAddr,
    method: Method,
    path: &str,
) -> Result<ClientResponse, AnyError> {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    // The task ends when the sender is dropped; the sender returns its errors.
    let driver = tokio::spawn(connection);
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, address.to_string())
        .header(CHANGE_HEADER, "1")
        .header(header::CONTENT_LENGTH, 0)
        .body(Empty::<Bytes>::new())?;
    let (head, body) = sender.send_request(request).await?.into_parts();
    let body = Limited::new(body, BODY_BYTES_MAX).collect().await?.to_bytes();
    drop(sender);
    driver.abort();
    Ok(ClientResponse { status: head.status, body: serde_json::from_slice(&body).unwrap_or_default() })
}
