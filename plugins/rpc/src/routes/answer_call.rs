//! The answer to one call. Rule: what it needs of the chain goes through raw calls, within the time and bytes of the request.

use super::{get_logs::get_logs, rpc_response::Outcome};
use crate::{
    Rpc,
    model::{
        Kind, Method, RpcError, RpcRequest, checked_transaction, is_known, is_permanent, method, positional,
        with_gas_cap,
    },
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

/// Of one call. Those that run a contract have less.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);
const CONTRACT_TIMEOUT: Duration = Duration::from_secs(5);
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

    pub async fn answer(&self, request: &RpcRequest<'_>) -> Outcome {
        let served = method(&request.method).filter(|method| self.cx.plugin().config.serves(method.name));
        let unknown = || RpcError::unknown_method(format!("the method {} is not served", shortened(&request.method)));
        let method = served.ok_or_else(unknown)?;
        let params = positional(method, request.params)?;
        // Nobody learns what it reads.
        if request.id.is_none() && method.kind != Kind::Send {
            return Ok(Arc::from(*b"null"));
        }
        let result = self.result(method, params).await?;
        self.take_bytes(result.len())?;
        Ok(result)
    }

    async fn result(&self, method: &Method, params: Vec<Value>) -> Outcome {
        let config = &self.cx.plugin().config;
        let environment = self.cx.environment();
        match method.kind {
            Kind::ChainId => Ok(json_text(&json!(format!("{:#x}", environment.chain_id)))),
            Kind::NetVersion => Ok(json_text(&json!(environment.chain_id.to_string()))),
            Kind::ClientVersion => Ok(json_text(&json!(format!("gateway/{}", environment.gateway_version)))),
            Kind::Read | Kind::FeeHistory | Kind::Proof => self.kept_or_forwarded(method, &params).await,
            Kind::Call => self
                .forward(method.name, &with_gas_cap(params, config.call_gas_max)?, CONTRACT_TIMEOUT)
                .await
                .map(|it| it.0),
            Kind::Logs => get_logs(self, method, &params).await,
            Kind::Send => {
                let hash = checked_transaction(params.first(), environment.chain_id, config.tip_min_wei.0)?;
                match self.forward(method.name, &params, CALL_TIMEOUT).await {
                    Err(error) if is_known(&error) => Ok(json_text(&json!(hash))),
                    sent => sent.map(|it| it.0),
                }
            }
        }
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

    async fn forward(
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

    fn take_bytes(&self, bytes: usize) -> Result<(), RpcError> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let taken = self.bytes_left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes));
        taken.map(drop).map_err(|_left| RpcError::too_large(self.cx.plugin().config.answer_bytes_max))
    }
}

fn json_text(value: &Value) -> Arc<[u8]> {
    Arc::from(value.to_string().as_bytes())
}

/// A name of any length, for a message.
fn shortened(name: &str) -> String {
    name.chars().filter(|character| !character.is_control()).take(64).collect()
}
