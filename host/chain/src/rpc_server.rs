//! One RPC server and its health.
//!
//! The rule: a server that fails, or whose responses contradict each other, is quarantined for a while, with a reason
//! that an operator reads.

use super::{
    Header,
    error::RpcError,
    rpc_client::{RpcClient, RpcRequest, missing_response, parse},
};
use alloy_primitives::U64;
use gateway_clock::Backoff;
use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use std::time::{Duration, Instant};

/// How often a head is requested again while the chain is reorganised.
const HEAD_RETRIES_MAX: u32 = 4;
/// Failures in a row after which a server is quarantined.
const FAILURES_MAX: u32 = 2;
/// The quarantine grows from the pause between two polls to so many pauses.
const QUARANTINE_PAUSES_MAX: u32 = 8;
/// A server with inconsistent responses is quarantined for so many pauses.
const INCONSISTENT_PAUSES: u32 = 15;
/// How long status reports that a request failed, even while the server reports its head and responds to others.
const FAILURE_REPORTED: Duration = Duration::from_secs(60);

pub(crate) struct RpcServer {
    /// The address without its secrets, for logs and reports.
    pub label: String,
    client: RpcClient,
    chain_id: u64,
    pause: Duration,
    quarantine: Backoff,
    health: Mutex<Health>,
}

#[derive(Default)]
struct Health {
    failures: u32,
    quarantined_until: Option<Instant>,
    reason: Option<String>,
    head: Option<Header>,
    latency_ms: Option<u64>,
    failing_requests: Option<FailingRequests>,
}

/// Requests that failed lately. The server may still report its head.
struct FailingRequests {
    in_a_row: u32,
    reason: String,
    last: Instant,
}

/// The health of one server, for status and operators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RpcServerReport {
    pub url: String,
    pub ok: bool,
    /// Why it is not ok, or its latest failure.
    pub reason: Option<String>,
    pub head: Option<u64>,
    pub latency_ms: Option<u64>,
}

impl RpcServer {
    pub(crate) fn new(label: String, client: RpcClient, chain_id: u64, pause: Duration) -> Self {
        let quarantine = Backoff::new(pause, pause.saturating_mul(QUARANTINE_PAUSES_MAX));
        Self { label, client, chain_id, pause, quarantine, health: Mutex::default() }
    }

    pub(crate) async fn call<T: DeserializeOwned>(&self, request: RpcRequest) -> Result<T, RpcError> {
        self.client.call(request).await
    }

    pub(crate) async fn batch<T: DeserializeOwned>(
        &self,
        requests: Vec<RpcRequest>,
    ) -> Result<Vec<Result<T, RpcError>>, RpcError> {
        self.client.batch(requests).await
    }

    /// Requests the newest block, and checks the chain id and that the block is linked to the chain.
    pub(crate) async fn poll_head(&self, depth_max: u64) -> Result<Header, RpcError> {
        let mut head = self.newest().await?;
        for _ in 0..HEAD_RETRIES_MAX {
            if self.is_linked(&head, depth_max).await? {
                self.health.lock().head = Some(head);
                return Ok(head);
            }
            // A reorganisation between two requests is legitimate: then the server has another head by now.
            let before = std::mem::replace(&mut head, self.newest().await?);
            if head == before {
                break;
            }
        }
        let text = format!("says that its head is block {}, and does not have the block before", head.number);
        Err(RpcError::Inconsistent(text))
    }

    async fn newest(&self) -> Result<Header, RpcError> {
        let started = Instant::now();
        let requests = vec![RpcRequest::new("eth_chainId", json!([])), block_by_number("latest".into())];
        let mut responses = self.client.batch(requests).await?.into_iter();
        let chain_id: U64 = parse(responses.next().unwrap_or_else(missing_response))?;
        if chain_id.to::<u64>() != self.chain_id {
            return Err(RpcError::Inconsistent(format!("is a server of chain {chain_id}, not of {}", self.chain_id)));
        }
        let head: Option<Header> = parse(responses.next().unwrap_or_else(missing_response))?;
        let head = head.ok_or_else(|| RpcError::OutOfSync("has no newest block".to_owned()))?;
        self.health.lock().latency_ms = u64::try_from(started.elapsed().as_millis()).ok();
        Ok(head)
    }

    /// Whether the server has the parent of the head. A chain that became much shorter is an error.
    async fn is_linked(&self, head: &Header, depth_max: u64) -> Result<bool, RpcError> {
        let before = self.health.lock().head;
        if let Some(before) = before {
            if before == *head || head.parent_hash == before.hash {
                return Ok(true);
            }
            if head.number.saturating_add(depth_max) < before.number {
                // Reported once: after the quarantine, the head that it reports then is accepted.
                self.health.lock().head = None;
                let text = format!("its head went back from block {} to {}", before.number, head.number);
                return Err(RpcError::Inconsistent(text));
            }
        }
        if head.number == 0 {
            return Ok(true);
        }
        let parent: Option<Header> = self.client.call(block_by_hash(&head.parent_hash.to_string())).await?;
        match parent {
            Some(parent) if parent.number.checked_add(1) == Some(head.number) && parent.hash == head.parent_hash => {
                Ok(true)
            }
            Some(_) => {
                Err(RpcError::Inconsistent(format!("its block {} does not stand on the one before", head.number)))
            }
            None => Ok(false),
        }
    }

    pub(crate) fn is_quarantined(&self) -> bool {
        self.health.lock().quarantined_until.is_some_and(|until| Instant::now() < until)
    }

    /// Whether its latest requests failed in a row, even while it reports its head.
    pub(crate) fn is_failing_requests(&self) -> bool {
        self.health.lock().failing_requests.as_ref().is_some_and(|failing| failing.in_a_row >= FAILURES_MAX)
    }

    /// Counts a response to a request.
    pub(crate) fn request_succeeded(&self) {
        if let Some(failing) = &mut self.health.lock().failing_requests {
            failing.in_a_row = 0;
        }
        self.poll_succeeded();
    }

    /// Counts a response to a poll of the head, which says nothing about other requests.
    pub(crate) fn poll_succeeded(&self) {
        let mut health = self.health.lock();
        if health.quarantined_until.is_some() {
            tracing::info!(server = self.label, "the RPC server is back");
        }
        (health.failures, health.quarantined_until, health.reason) = (0, None, None);
        health.failing_requests.take_if(|failing| failing.last.elapsed() > FAILURE_REPORTED);
    }

    /// Counts a request that failed. A JSON-RPC error object does not count: the server works.
    pub(crate) fn request_failed(&self, error: &RpcError) {
        if error.is_error_response() {
            return;
        }
        let mut health = self.health.lock();
        let before = health.failing_requests.as_ref().map_or(0, |failing| failing.in_a_row);
        let in_a_row = before.saturating_add(1);
        health.failing_requests = Some(FailingRequests { in_a_row, reason: error.to_string(), last: Instant::now() });
        drop(health);
        self.poll_failed(error);
    }

    /// Counts a failure of any kind, and quarantines the server after too many.
    pub(crate) fn poll_failed(&self, error: &RpcError) {
        let mut health = self.health.lock();
        health.failures = health.failures.saturating_add(1);
        let quarantine = match error {
            RpcError::Inconsistent(_) => Some(self.pause.saturating_mul(INCONSISTENT_PAUSES)),
            _ => health.failures.checked_sub(FAILURES_MAX).map(|earlier| self.quarantine.wait_after(earlier)),
        };
        let reason = error.to_string();
        if quarantine.is_some() && health.reason.as_ref() != Some(&reason) {
            tracing::warn!(server = self.label, reason, "an RPC server is put aside");
        }
        let until = quarantine.map(|quarantine| Instant::now() + quarantine);
        health.quarantined_until = until.or(health.quarantined_until);
        health.reason = Some(reason);
    }

    pub(crate) fn report(&self) -> RpcServerReport {
        let is_quarantined = self.is_quarantined();
        let health = self.health.lock();
        let recent = |failing: &FailingRequests| format!("failed to answer within the last minute: {}", failing.reason);
        RpcServerReport {
            url: self.label.clone(),
            ok: !is_quarantined && health.failures == 0 && health.failing_requests.is_none() && health.head.is_some(),
            reason: health.reason.clone().or_else(|| health.failing_requests.as_ref().map(recent)),
            head: health.head.map(|head| head.number),
            latency_ms: health.latency_ms,
        }
    }
}

pub(crate) fn block_by_number(number: serde_json::Value) -> RpcRequest {
    RpcRequest::new("eth_getBlockByNumber", json!([number, false]))
}

pub(crate) fn block_by_hash(hash: &str) -> RpcRequest {
    RpcRequest::new("eth_getBlockByHash", json!([hash, false]))
}

/// A number as JSON-RPC writes it.
pub(crate) fn hex_number(number: u64) -> serde_json::Value {
    format!("{number:#x}").into()
}
