//! `eth_getLogs`: a long range in parts, each smaller where a server finds it too large. Rule: each part costs its client the same.

use super::{answerer::Answerer, rpc_response::Outcome};
use crate::model::{KnownBlocks, LOG_WEIGHT, LogQuery, Method, RpcError, joined};
use plugin_api::chain::MAIN;
use serde_json::Value;
use std::sync::Arc;

/// Calls of the servers for one `eth_getLogs`.
const PARTS_MAX: usize = 64;

/// Where a range ends that names `finalized`: this deep, whatever the chain's own idea of it is.
const FINAL_DEPTH: u64 = 64;

pub async fn get_logs(answerer: &Answerer<'_>, method: &Method, params: &[Value]) -> Outcome {
    let config = &answerer.cx.plugin().config;
    let filter = params.first().unwrap_or(&Value::Null);
    let query = LogQuery::parse(filter, known_blocks(answerer).await?, config.log_blocks_max, config.log_chunk_blocks)?;
    let mut parts = match query {
        LogQuery::Whole(filter) => return answerer.kept_or_forwarded(method, &[filter]).await,
        LogQuery::Parts(parts) => parts,
    };
    parts.reverse();
    // The first part is paid with the call.
    let (mut found, mut bytes, mut asked) = (Vec::<Arc<[u8]>>::new(), 0_u64, 0);
    while let Some(part) = parts.pop() {
        if asked > 0 {
            answerer.take_weight(LOG_WEIGHT)?;
        }
        asked += 1;
        match answerer.kept_or_forwarded(method, &[part.to_filter()]).await {
            Ok(logs) => {
                bytes = bytes.saturating_add(u64::try_from(logs.len()).unwrap_or(u64::MAX));
                found.push(logs);
            }
            Err(error) if may_be_too_large(&error) && asked < PARTS_MAX => match part.halves() {
                Some([first, second]) => parts.extend([second, first]),
                None => return Err(error),
            },
            Err(error) => return Err(error),
        }
        if bytes > config.answer_bytes_max {
            return Err(RpcError::too_large(config.answer_bytes_max));
        }
    }
    let all = joined(found.iter().map(|logs| &**logs)).ok_or_else(RpcError::unavailable)?;
    Ok(all.into())
}

/// As the gateway's own polls say, without a call of the servers.
async fn known_blocks(answerer: &Answerer<'_>) -> Result<KnownBlocks, RpcError> {
    let head = answerer.cx.chain(MAIN).head().await.map_err(|_no_server| RpcError::unavailable())?;
    Ok(KnownBlocks { head: head.number, final_block: head.number.saturating_sub(FINAL_DEPTH) })
}

/// Servers say it in many ways: with the code of a limit, or with a text.
fn may_be_too_large(error: &RpcError) -> bool {
    let message = error.message.to_lowercase();
    error.code == -32005 && error.http_status == 200
        || ["range", "too many", "more than", "limit", "too large"].iter().any(|text| message.contains(text))
}
