//! The connection to the collector. Rule: its requests run on the gateway's runtime, because the thread that exports has none.

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use std::time::Duration;
use tokio::runtime::Handle;

/// A collector answers with a few bytes.
const RESPONSE_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug)]
pub struct CollectorClient {
    client: reqwest::Client,
    runtime: Handle,
}

impl CollectorClient {
    /// `endpoint` tells whether certificates are needed, which take milliseconds to read.
    pub fn new(endpoint: &str, runtime: Handle, timeout: Duration) -> Result<Self, String> {
        let tls = gateway_egress::client_tls(endpoint.starts_with("https:")).map_err(|error| error.to_string())?;
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .referer(false)
            .timeout(timeout)
            .user_agent(concat!("gateway/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| error.without_url().to_string())?;
        Ok(Self { client, runtime })
    }
}

#[async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        self.runtime.spawn(exchange(client, request)).await?
    }
}

async fn exchange(client: reqwest::Client, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let request = reqwest::Request::try_from(request)?;
    let mut answer = client.execute(request).await.map_err(reqwest::Error::without_url)?;
    let mut response = Response::builder().status(answer.status());
    if let Some(headers) = response.headers_mut() {
        *headers = std::mem::take(answer.headers_mut());
    }
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(reqwest::Error::without_url)? {
        if body.len() + chunk.len() > RESPONSE_BYTES_MAX {
            return Err("the collector's answer is too long".into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(response.body(body.into())?)
}
