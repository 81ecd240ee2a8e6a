//! The connections of raw calls, and how many wait for the servers at a time.
//!
//! The rule: nothing here is shared with the gateway's own requests, neither connections nor permits nor records of failures.

use super::{identity, server_secrets::ServerSecrets};
use crate::{
    error::{RpcError, sanitize_line},
    http_transport::HttpTransport,
    redacted_url::redacted_url,
};
use alloy::rpc::json_rpc::{ErrorPayload, Id, Request, RequestPacket, ResponsePacket, ResponsePayload};
use parking_lot::Mutex;
use plugin_api::manifest::RawCallError;
use serde_json::value::RawValue;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::{Semaphore, SemaphorePermit};
use url::Url;

/// Raw calls of one chain that wait for its servers at a time.
const IN_FLIGHT_MAX: usize = 32;
/// How long a call may wait for its permit.
const PERMIT_WAIT_MAX: Duration = Duration::from_secs(1);
/// How long after a failed raw call a server gets raw calls only when the others fail, too.
const FAILURE_REMEMBERED: Duration = Duration::from_secs(5);

pub(crate) type RawResult<E = RawCallError> = Result<Box<RawValue>, E>;

/// Why a server gave no result.
pub(crate) struct RawFailure {
    pub error: RawCallError,
    /// Whether another server would respond the same.
    pub is_final: bool,
}

pub(crate) struct RawClient {
    /// In the order of the chain's servers.
    servers: Vec<RawServer>,
    permits: Semaphore,
}

pub(crate) struct RawServer {
    label: String,
    transport: HttpTransport,
    chain_id: u64,
    secrets: Arc<ServerSecrets>,
    failed_at: Mutex<Option<Instant>>,
}

impl RawClient {
    /// `client` is used for nothing else.
    pub(crate) fn new(client: reqwest::Client, urls: &[Url], chain_id: u64) -> Self {
        let secrets = Arc::new(ServerSecrets::new(urls));
        let server = |url: &Url| RawServer {
            label: redacted_url(url),
            transport: HttpTransport { client: client.clone(), url: url.clone() },
            chain_id,
            secrets: secrets.clone(),
            failed_at: Mutex::default(),
        };
        Self { servers: urls.iter().map(server).collect(), permits: Semaphore::new(IN_FLIGHT_MAX) }
    }

    /// Waits for a permit. None: too many calls wait already.
    pub(crate) async fn permit(&self, timeout: Duration) -> Option<SemaphorePermit<'_>> {
        tokio::time::timeout(PERMIT_WAIT_MAX.min(timeout), self.permits.acquire()).await.ok()?.ok()
    }

    /// The servers with these indexes, those that failed a raw call just now at the end.
    pub(crate) fn in_order(&self, available: impl Iterator<Item = usize>) -> Vec<&RawServer> {
        let mut servers: Vec<&RawServer> = available.filter_map(|index| self.servers.get(index)).collect();
        servers.sort_by_key(|server| server.has_just_failed());
        servers
    }
}

impl RawServer {
    fn has_just_failed(&self) -> bool {
        self.failed_at.lock().is_some_and(|at| at.elapsed() < FAILURE_REMEMBERED)
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        params: &RawValue,
        timeout: Duration,
        bytes_max: usize,
    ) -> RawResult<RawFailure> {
        let timeout_error = |_| RpcError::Timeout(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
        let exchange = self.exchange(method, params, bytes_max);
        let payload = tokio::time::timeout(timeout, exchange).await.map_err(timeout_error).flatten();
        let error = match payload {
            Ok(ResponsePayload::Success(result)) if identity::belongs(self.chain_id, method, params, &result) => {
                *self.failed_at.lock() = None;
                return Ok(result);
            }
            Ok(ResponsePayload::Success(_)) => RpcError::Inconsistent("answered something else".to_owned()),
            Ok(ResponsePayload::Failure(error)) => return Err(self.refusal(&error)),
            Err(RpcError::TooLarge(_)) => return Err(RawFailure { error: RawCallError::TooLarge, is_final: true }),
            Err(error) => error,
        };
        tracing::debug!(server = self.label, method, %error, "a raw call failed");
        *self.failed_at.lock() = Some(Instant::now());
        let error = match error {
            RpcError::Timeout(_) => RawCallError::Timeout,
            _ => RawCallError::Unavailable,
        };
        Err(RawFailure { error, is_final: false })
    }

    async fn exchange(
        &self,
        method: &str,
        params: &RawValue,
        bytes_max: usize,
    ) -> Result<ResponsePayload<Box<RawValue>, Box<RawValue>>, RpcError> {
        let request = Request::new(method.to_owned(), Id::Number(1), params).serialize();
        let request = request.map_err(|error| RpcError::InvalidJsonRpc(error.to_string()))?;
        match self.transport.send(&RequestPacket::Single(request), bytes_max).await? {
            ResponsePacket::Single(response) => Ok(response.payload),
            ResponsePacket::Batch(_) => Err(RpcError::InvalidJsonRpc("a batch for one request".to_owned())),
        }
    }

    fn refusal(&self, error: &ErrorPayload<Box<RawValue>>) -> RawFailure {
        // Of a contract, a transaction or a parameter. Others are the server's: it lacks a method or a block, or is at its limits.
        let is_final = matches!(error.code, 3 | -32000 | -32600 | -32602);
        let is_safe = |text: &str| !self.secrets.are_in(text);
        let message = Some(sanitize_line(&error.message)).filter(|message| is_safe(message));
        let data = error.data.as_ref().and_then(|data| serde_json::from_str::<String>(data.get()).ok());
        let data = data.filter(|data| data.strip_prefix("0x").is_some_and(is_hexadecimal));
        let message = message.unwrap_or_else(|| "the RPC server refuses this request".to_owned());
        RawFailure { error: RawCallError::Response { code: error.code, message, data }, is_final }
    }
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
