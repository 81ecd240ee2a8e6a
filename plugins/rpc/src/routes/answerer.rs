//! How the calls of one request reach the chain. Rule: raw calls, within the time and bytes of the request.

use super::rpc_response::Outcome;
use crate::{
    Rpc,
    model::{Method, RpcError, is_permanent},
};
use plugin_api::{
    RequestContext,
    chain::{MAIN, RawAnswer, RawCall},
};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// Of one call.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(10);
/// Of a whole batch.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(25);
/// What a server sends around a result.
const ENVELOPE_BYTES: u64 = 1024;

/// Answers the calls of one request.
pub struct Answerer<'r> {
    pub cx: &'r RequestContext<Rpc>,
    pub network: &'r str,
    deadline: Instant,
    /// What the results of this request may still have.
    bytes_left: AtomicU64,
}

impl<'r> Answerer<'r> {
    pub fn new(cx: &'r RequestContext<Rpc>, network: &'r str) -> Self {
        let bytes_left = AtomicU64::new(cx.plugin().config.answer_bytes_max);
        Self { cx, network, deadline: Instant::now() + REQUEST_TIMEOUT, bytes_left }
    }

    /// The answer that was kept, or that of a server, which is kept when it cannot change.
    pub async fn kept_or_forwarded(&self, method: &Method, params: &[Value]) -> Outcome {
        let (answers, now_ms) = (&self.cx.plugin().answers, self.cx.now_ms());
        let call = format!("{} {}", method.name, json!(params));
        if let Some(kept) = answers.get(&call, now_ms) {
            return Ok(kept);
        }
        let (result, final_block) = self.forward(method.name, params, CALL_TIMEOUT).await?;
        if is_permanent(method.name, params, &result, final_block) {
            answers.insert(call, result.clone(), now_ms);
        }
        Ok(result)
    }

    pub async fn forward(
        &self,
        method: &'static str,
        params: &[Value],
        timeout: Duration,
    ) -> Result<(Arc<[u8]>, Option<u64>), RpcError> {
        let timeout = timeout.min(self.deadline.saturating_duration_since(Instant::now()));
        if timeout.is_zero() {
            return Err(RpcError::timeout());
        }
        let bytes_max = self.bytes_left.load(Relaxed);
        let call = RawCall::new(method, json!(params).to_string()).timeout(timeout);
        let answered = self.cx.chain(MAIN).raw_call(call.result_bytes_max(bytes_max + ENVELOPE_BYTES)).await;
        let RawAnswer { result, final_block } = answered.map_err(|error| {
            self.cx.debug(&format!("{method}: {error}"));
            RpcError::unavailable()
        })?;
        match result {
            Ok(result) => Ok((Arc::from(&*result), final_block)),
            Err(error) => Err(RpcError::of_call(error, self.cx.plugin().config.answer_bytes_max)),
        }
    }

    /// What a call costs beyond the weight of its method.
    pub fn take_weight(&self, weight: u32) -> Result<(), RpcError> {
        Ok(self.cx.plugin().clients.take(self.network, weight, self.cx.now_ms())?)
    }

    pub fn take_bytes(&self, bytes: usize) -> Result<(), RpcError> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let taken = self.bytes_left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes));
        taken.map(drop).map_err(|_left| RpcError::too_large(self.cx.plugin().config.answer_bytes_max))
    }
}
