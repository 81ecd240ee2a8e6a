//! The answer to one call.

use super::{
    answerer::{Answerer, CALL_TIMEOUT},
    get_logs::get_logs,
    rpc_response::Outcome,
};
use crate::model::{
    Kind, Method, RpcError, RpcRequest, checked_transaction, is_known, method, positional, with_gas_cap,
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

/// Of a call that runs a contract.
const CONTRACT_TIMEOUT: Duration = Duration::from_secs(5);

pub async fn answer_call(answerer: &Answerer<'_>, request: &RpcRequest<'_>) -> Outcome {
    let served = method(&request.method).filter(|method| answerer.cx.plugin().config.serves(method.name));
    let unknown = || RpcError::unknown_method(format!("the method {} is not served", shortened(&request.method)));
    let method = served.ok_or_else(unknown)?;
    let params = positional(method, request.params)?;
    // Nobody learns what it reads.
    if request.id.is_none() && method.kind != Kind::Send {
        return Ok(Arc::from(*b"null"));
    }
    let result = result(answerer, method, params).await?;
    answerer.take_bytes(result.len())?;
    Ok(result)
}

async fn result(answerer: &Answerer<'_>, method: &Method, params: Vec<Value>) -> Outcome {
    let config = &answerer.cx.plugin().config;
    let environment = answerer.cx.environment();
    match method.kind {
        Kind::ChainId => Ok(json_text(&json!(format!("{:#x}", environment.chain_id)))),
        Kind::NetVersion => Ok(json_text(&json!(environment.chain_id.to_string()))),
        Kind::ClientVersion => Ok(json_text(&json!(format!("gateway/{}", environment.gateway_version)))),
        Kind::Read | Kind::FeeHistory | Kind::Proof => answerer.kept_or_forwarded(method, &params).await,
        Kind::Call => answerer
            .forward(method.name, &with_gas_cap(params, config.call_gas_max)?, CONTRACT_TIMEOUT)
            .await
            .map(|it| it.0),
        Kind::Logs => get_logs(answerer, method, &params).await,
        Kind::Send => {
            let hash = checked_transaction(params.first(), environment.chain_id, config.tip_min_wei.0)?;
            match answerer.forward(method.name, &params, CALL_TIMEOUT).await {
                Err(error) if is_known(&error) => Ok(json_text(&json!(hash))),
                sent => sent.map(|it| it.0),
            }
        }
    }
}

fn json_text(value: &Value) -> Arc<[u8]> {
    Arc::from(value.to_string().as_bytes())
}

/// A name of any length, for a message.
fn shortened(name: &str) -> String {
    name.chars().filter(|character| !character.is_control()).take(64).collect()
}
