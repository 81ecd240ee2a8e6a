//! Servers of the chain.

use serde::Deserialize;
use serde_json::{Value, json};
use std::{future::Future, time::Duration};

/// A receipt of a large transaction, or the list of transactions of a full block.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
const TIMEOUT: Duration = Duration::from_secs(20);

/// Why a server gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    #[error("no answer: {0}")]
    Unreachable(String),
    /// It answered with an error.
    #[error("{0}")]
    Refused(String),
}

/// A JSON-RPC server of the chain.
pub trait Rpc: Send + Sync {
    fn request(&self, method: &str, params: Value) -> impl Future<Output = Result<Value, RpcError>> + Send;
}

/// Why a URL cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("{0}")]
    Client(#[from] reqwest::Error),
    #[error("it answers with status {0}")]
    Status(u16),
    #[error("it has more than {0} bytes")]
    TooLarge(usize),
}

fn client() -> Result<reqwest::Client, reqwest::Error> {
    // The error only means that the program has chosen one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().timeout(TIMEOUT).build()
}

async fn read(mut response: reqwest::Response, bytes_max: usize) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > bytes_max {
            return Err(HttpError::TooLarge(bytes_max));
        }
    }
    Ok(body)
}

/// GETs a document of at most so many bytes.
pub async fn fetch(url: &str, bytes_max: usize) -> Result<Vec<u8>, HttpError> {
    let response = client()?.get(url).send().await?;
    if !response.status().is_success() {
        return Err(HttpError::Status(response.status().as_u16()));
    }
    read(response, bytes_max).await
}

/// A server at a URL.
pub struct HttpRpc {
    client: reqwest::Client,
    url: String,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    result: Value,
    error: Option<Value>,
}

impl HttpRpc {
    pub fn new(url: &str) -> Result<Self, HttpError> {
        Ok(Self { client: client()?, url: url.to_owned() })
    }

    async fn post(&self, body: &Value) -> Result<Vec<u8>, HttpError> {
        read(self.client.post(&self.url).json(body).send().await?, ANSWER_BYTES_MAX).await
    }
}

impl Rpc for HttpRpc {
    async fn request(&self, method: &str, params: Value) -> Result<Value, RpcError> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = self.post(&body).await.map_err(|error| RpcError::Unreachable(error.to_string()))?;
        let answer: Answer =
            serde_json::from_slice(&answer).map_err(|error| RpcError::Unreachable(format!("no JSON-RPC: {error}")))?;
        match answer.error {
            Some(error) => {
                Err(RpcError::Refused(error.get("message").and_then(Value::as_str).unwrap_or("error").to_owned()))
            }
            None => Ok(answer.result),
        }
    }
}
