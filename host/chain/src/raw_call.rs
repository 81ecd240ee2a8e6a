//! Calls of a method and parameters that a plugin passes on, for example those of the public.
//!
//! The rule: they delay nothing else and decide about no server. They have connections and a bound of their own, and their
//! failures are no part of a server's health; what the gateway knows of the servers' health chooses among them.

use super::{
    Chain,
    chains::Chains,
    raw_client::{RawFailure, RawResult},
};
use plugin_api::{
    abi::HostError,
    host::decode_call,
    manifest::{RawCallError, RawChainCall, RawChainReply},
};
use serde_json::value::RawValue;
use std::time::{Duration, Instant};

/// A call takes at most this long, whatever its plugin asks for.
const TIMEOUT_MAX: Duration = Duration::from_secs(60);

impl Chains {
    /// Handles a plugin's raw call; `granted` are the chains that it may read. Returns the reply and the result as JSON, which is
    /// empty when there is none.
    pub async fn raw_call(
        &self,
        granted: &[String],
        request: &[u8],
        params: &[u8],
    ) -> Result<(RawChainReply, Vec<u8>), HostError> {
        let call: RawChainCall = decode_call("a raw call", request)?;
        let params: &RawValue = decode_call("the parameters of a raw call", params)?;
        let chain = self.granted(granted, &call.chain)?;
        let outcome = chain.raw_call(&call, params).await;
        let final_block = chain.live_head().map(|head| chain.final_number(head.number));
        Ok(match outcome {
            Ok(result) => (RawChainReply { error: None, final_block }, String::from(Box::<str>::from(result)).into()),
            Err(error) => (RawChainReply { error: Some(error), final_block }, Vec::new()),
        })
    }
}

impl Chain {
    /// Sends the call to one server after the other until one responds.
    async fn raw_call(&self, call: &RawChainCall, params: &RawValue) -> RawResult {
        let timeout = Duration::from_millis(call.timeout_ms).min(TIMEOUT_MAX);
        let deadline = Instant::now() + timeout;
        let bytes_max = usize::try_from(call.result_bytes_max).unwrap_or(usize::MAX);
        let _permit = self.raw.permit(timeout).await.ok_or(RawCallError::Busy)?;
        let mut servers = self.raw.in_order(self.available()).into_iter().peekable();
        let mut error = RawCallError::Unavailable;
        while let Some(server) = servers.next() {
            let left = deadline.saturating_duration_since(Instant::now());
            // One that hangs leaves time for the next.
            let attempt = if servers.peek().is_some() { left * 2 / 3 } else { left };
            match server.send(&call.method, params, attempt, bytes_max).await {
                Ok(result) => return Ok(result),
                Err(RawFailure { is_final: true, error }) => return Err(error),
                // What a server says is told rather than that another one is silent.
                Err(failure) if !matches!(error, RawCallError::Response { .. }) => error = failure.error,
                Err(_) => {}
            }
        }
        Err(error)
    }
}
