//! JSON-RPC requests to one server, in batches where the server accepts them.
//!
//! The rule: responses come in the order of the requests, and a request without a response is an error.

use super::{
    error::{RpcError, sanitize_line},
    http_transport::{HttpTransport, RESPONSE_BYTES_MAX},
};
use alloy::rpc::json_rpc::{ErrorPayload, Id, Request, RequestPacket, Response, ResponsePacket, ResponsePayload};
use serde::de::DeserializeOwned;
use serde_json::{Value, value::RawValue};
use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};
use tokio::sync::Semaphore;
use url::Url;

/// JSON-RPC requests in one HTTP request.
const BATCH_MAX: usize = 64;
/// HTTP requests at a time.
const IN_FLIGHT_MAX: usize = 10;

/// One JSON-RPC request.
#[derive(Clone, Debug)]
pub(crate) struct RpcRequest {
    pub method: &'static str,
    pub params: Value,
}

impl RpcRequest {
    pub(crate) fn new(method: &'static str, params: Value) -> Self {
        Self { method, params }
    }
}

/// A response whose result is not parsed yet, for batches with results of several types.
pub(crate) type RawResponse = Result<Box<RawValue>, RpcError>;

pub(crate) struct RpcClient {
    transport: HttpTransport,
    timeout: Duration,
    in_flight: Semaphore,
    /// Falls when a server does not accept batches of that size, and rises slowly again.
    batch_max: AtomicUsize,
}

impl RpcClient {
    pub(crate) fn new(client: reqwest::Client, url: Url, timeout: Duration) -> Self {
        Self {
            transport: HttpTransport { client, url },
            timeout,
            in_flight: Semaphore::new(IN_FLIGHT_MAX),
            batch_max: AtomicUsize::new(BATCH_MAX),
        }
    }

    /// Sends one request.
    pub(crate) async fn call<T: DeserializeOwned>(&self, request: RpcRequest) -> Result<T, RpcError> {
        let mut responses = self.send(std::slice::from_ref(&request)).await?;
        responses.pop().unwrap_or_else(missing_response)
    }

    /// Sends all requests and returns the responses in their order, each a `T` or the server's error.
    pub(crate) async fn batch<T: DeserializeOwned>(
        &self,
        requests: Vec<RpcRequest>,
    ) -> Result<Vec<Result<T, RpcError>>, RpcError> {
        let mut responses = Vec::with_capacity(requests.len());
        let (mut rest, mut failed_before) = (requests.as_slice(), false);
        while !rest.is_empty() {
            let batch_len = even(self.batch_max.load(Relaxed)).min(rest.len());
            let (batch, later) = rest.split_at(batch_len);
            match self.send(batch).await {
                Ok(received) if received.iter().all(|response| !is_invalid(response)) || batch_len == 1 => {
                    self.batch_max.store((self.batch_max.load(Relaxed) + 2).min(BATCH_MAX), Relaxed);
                    responses.extend(received);
                    (rest, failed_before) = (later, false);
                }
                // The first failure may be transient: the same batch is sent once more.
                Ok(_) | Err(RpcError::InvalidJsonRpc(_) | RpcError::Unreachable(_) | RpcError::Status(500..=599))
                    if !failed_before =>
                {
                    failed_before = true;
                }
                // The caller decides whether to send again; later batches are smaller.
                Err(timeout @ RpcError::Timeout(_)) => {
                    self.batch_max.store((batch_len / 2).max(2), Relaxed);
                    return Err(timeout);
                }
                Err(error) if batch_len == 1 || !may_be_batch_size(&error) => return Err(error),
                Ok(_) | Err(_) => {
                    self.batch_max.store(batch_len / 2, Relaxed);
                    failed_before = false;
                }
            }
        }
        Ok(responses)
    }

    async fn send<T: DeserializeOwned>(&self, requests: &[RpcRequest]) -> Result<Vec<Result<T, RpcError>>, RpcError> {
        // The timeout starts when the request is sent. Only a closed semaphore fails, and nothing closes this one.
        let _permit = self.in_flight.acquire().await;
        let timeout = |_| RpcError::Timeout(u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX));
        tokio::time::timeout(self.timeout, self.exchange(requests)).await.map_err(timeout)?
    }

    async fn exchange<T: DeserializeOwned>(
        &self,
        requests: &[RpcRequest],
    ) -> Result<Vec<Result<T, RpcError>>, RpcError> {
        let serialize = |(id, request): (u64, &RpcRequest)| {
            Request::new(request.method, Id::Number(id), &request.params).serialize()
        };
        // Ids start at one: some servers take a zero for a missing id.
        let serialized = (1..).zip(requests).map(serialize).collect::<Result<Vec<_>, _>>();
        let mut serialized = serialized.map_err(|error| RpcError::InvalidJsonRpc(error.to_string()))?;
        let is_batch = serialized.len() != 1;
        let packet = match serialized.pop() {
            Some(request) if !is_batch => RequestPacket::Single(request),
            last => RequestPacket::Batch(serialized.into_iter().chain(last).collect()),
        };
        let received = match self.transport.send(&packet, RESPONSE_BYTES_MAX).await? {
            ResponsePacket::Batch(received) => received,
            // It belongs to the only request, even when its id is another.
            ResponsePacket::Single(response) if !is_batch => vec![Response { id: Id::Number(1), ..response }],
            ResponsePacket::Single(response) => vec![response],
        };
        let mut responses: Vec<Option<Result<T, RpcError>>> = requests.iter().map(|_| None).collect();
        for response in received {
            if let Id::Number(id) = response.id
                && let Some(slot) = usize::try_from(id).ok().and_then(|id| responses.get_mut(id.checked_sub(1)?))
            {
                slot.get_or_insert_with(|| result(response.payload));
            }
        }
        Ok(responses.into_iter().map(|response| response.unwrap_or_else(missing_response)).collect())
    }
}

fn result<T>(payload: ResponsePayload<T>) -> Result<T, RpcError> {
    match payload {
        ResponsePayload::Success(result) => Ok(result),
        ResponsePayload::Failure(ErrorPayload { code, message, data }) => {
            let message = match data.and_then(|data| revert_selector(data.get())) {
                Some(selector) if !message.contains(&selector) => format!("{message}: custom error {selector}"),
                _ => message.into_owned(),
            };
            Err(RpcError::ErrorResponse { code, message: sanitize_line(&message) })
        }
    }
}

/// The selector of the error that a contract reverted with. A server puts the text of `revert("…")` into its message, but leaves out
/// which error a contract declared itself. At most 1 KiB of the data is looked at.
fn revert_selector(json: &str) -> Option<String> {
    /// `Error(string)` and `Panic(uint256)`.
    const OF_THE_LANGUAGE: [&str; 2] = ["0x08c379a0", "0x4e487b71"];
    let start = json.get(..json.len().min(1024))?.find("\"0x")? + 1;
    let selector = json.get(start..start + 10)?;
    let is_hex = selector.bytes().skip(2).all(|byte| byte.is_ascii_hexdigit());
    (is_hex && !OF_THE_LANGUAGE.contains(&selector)).then(|| selector.to_ascii_lowercase())
}

/// Parses the result of a raw response.
pub(crate) fn parse<T: DeserializeOwned>(response: RawResponse) -> Result<T, RpcError> {
    serde_json::from_str(response?.get()).map_err(|error| RpcError::WrongType(error.to_string()))
}

/// Rounds down to an even number: two requests that belong together stay in one batch, so that one server responds to
/// both also behind a load balancer.
fn even(batch_max: usize) -> usize {
    if batch_max > 1 { batch_max & !1 } else { batch_max }
}

/// Stands for a response that did not come.
pub(crate) fn missing_response<T>() -> Result<T, RpcError> {
    Err(RpcError::InvalidJsonRpc("an answer is missing".to_owned()))
}

fn is_invalid<T>(response: &Result<T, RpcError>) -> bool {
    matches!(response, Err(RpcError::InvalidJsonRpc(_)))
}

/// Whether a smaller batch may succeed.
fn may_be_batch_size(error: &RpcError) -> bool {
    use RpcError::{ErrorResponse, InvalidJsonRpc, Status, TooLarge};
    matches!(error, InvalidJsonRpc(_) | ErrorResponse { .. } | TooLarge(_) | Status(400 | 404 | 405 | 413 | 500..=599))
}
