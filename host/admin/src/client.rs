//! How the command line talks to the listener of a running gateway. Rule: it waits while the gateway works on a command, up to
//! a limit.

use super::{client_tls::ClientTls, guard::CHANGE_HEADER};
use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper_util::rt::TokioIo;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use std::{net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

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
    #[error(
        "the gateway at {address} asks for a token: set GATEWAY_ADMIN__TOKEN or admin.token_file to the one of the gateway"
    )]
    Token { address: SocketAddr },
    #[error(
        "the gateway at {address} asks for a certificate: set admin.tls.command_certificate and admin.tls.command_key, or use a token"
    )]
    Certificate { address: SocketAddr },
}

/// Calls the listener at this address, with its token if it has one, and over TLS where that is set.
#[derive(Clone, Debug)]
pub struct AdminClient {
    pub address: SocketAddr,
    pub token: Option<SecretString>,
    pub tls: Option<ClientTls>,
}

impl AdminClient {
    /// As the banner of the gateway shows it.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Sends one change without a body.
    pub async fn post(&self, path: &str) -> Result<ClientResponse, ClientError> {
        self.send(Method::POST, path, ANSWER_TIMEOUT).await
    }

    /// A read, which changes nothing.
    pub async fn get(&self, path: &str) -> Result<ClientResponse, ClientError> {
        self.send(Method::GET, path, LOOK_TIMEOUT).await
    }

    async fn send(&self, method: Method, path: &str, limit: Duration) -> Result<ClientResponse, ClientError> {
        let address = self.address;
        let connect = tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await;
        let stream = connect
            .unwrap_or_else(|_elapsed| Err(std::io::ErrorKind::TimedOut.into()))
            .map_err(|source| ClientError::NotThere { address, source })?;
        match tokio::time::timeout(limit, self.exchange_over(stream, method, path)).await {
            Ok(Ok(answer)) if answer.status == StatusCode::UNAUTHORIZED => Err(ClientError::Token { address }),
            Ok(Ok(answer)) if is_about_certificate(&answer) => Err(ClientError::Certificate { address }),
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(ClientError::Broken { address, reason: error.to_string() }),
            Err(_elapsed) => Err(ClientError::TooLate { address, limit }),
        }
    }

    async fn exchange_over(&self, socket: TcpStream, method: Method, path: &str) -> Result<ClientResponse, AnyError> {
        match &self.tls {
            None => self.exchange(socket, method, path).await,
            Some(tls) => self.exchange(tls.connect(self.address.ip(), socket).await?, method, path).await,
        }
    }

    async fn exchange<S>(&self, stream: S, method: Method, path: &str) -> Result<ClientResponse, AnyError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        // The task ends when the sender is dropped; the sender returns its errors.
        let driver = tokio::spawn(connection);
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, self.address.to_string())
            .header(CHANGE_HEADER, "1")
            .header(header::CONTENT_LENGTH, 0);
        if let Some(token) = &self.token {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret()))?;
            value.set_sensitive(true);
            request = request.header(header::AUTHORIZATION, value);
        }
        let (head, body) = sender.send_request(request.body(Empty::<Bytes>::new())?).await?.into_parts();
        let body = Limited::new(body, BODY_BYTES_MAX).collect().await?.to_bytes();
        drop(sender);
        driver.abort();
        Ok(ClientResponse { status: head.status, body: serde_json::from_slice(&body).unwrap_or_default() })
    }
}

fn is_about_certificate(answer: &ClientResponse) -> bool {
    answer.status == StatusCode::FORBIDDEN && answer.body["code"] == "certificate"
}

type AnyError = Box<dyn std::error::Error + Send + Sync>;
