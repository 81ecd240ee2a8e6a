//! `POST /rpc`: calls of the chain, one or a batch. Rule: whatever the body is, the answer is one of JSON-RPC.

use super::{
    answer_call::answer_call,
    answerer::Answerer,
    rpc_response::{Outcome, RpcAnswer, RpcResponse},
};
use crate::{
    Rpc,
    config::CALLS_PER_MINUTE_MAX,
    model::{Incoming, RpcError, RpcRequest, method},
};
use futures_util::future::join_all;
use plugin_api::{HandlerError, RequestContext, Route, extract::Body};

/// Calls of a batch that are sent at the same time.
const BATCH_IN_FLIGHT_MAX: usize = 4;
/// More than the time in which a request is answered.
const TIMEOUT_MS: u64 = 30_000;

pub fn route() -> Route<Rpc> {
    Route::post("/rpc", call_rpc)
        .public()
        .summary("Call the chain (JSON-RPC)")
        .description(
            "Ethereum's JSON-RPC 2.0, single and in batches, for wallets and libraries: reads of the chain, `eth_call` and \
             `eth_sendRawTransaction`. The README of the plugin lists the methods and their weights; any other method, filters and \
             subscriptions among them, is answered with -32601. An error is one of JSON-RPC; its status is 200 unless a client has \
             to wait.",
        )
        .body_types(&["application/json"])
        .timeout_ms(TIMEOUT_MS)
        .per_minute(CALLS_PER_MINUTE_MAX)
        .endpoint("rpc")
        .briefing("Chain RPC", "JSON-RPC of the chain for ethers, viem, web3.py and wallets: reads, eth_call, eth_sendRawTransaction")
        .example("POST /rpc {jsonrpc, id, method, params}")
        .response::<RpcAnswer>(200, "application/json", "Results, or errors of JSON-RPC")
        .response::<RpcAnswer>(429, "application/json", "The client asks too much: an error of JSON-RPC, with Retry-After")
        .response::<RpcAnswer>(503, "application/json", "No server of the chain answers: an error of JSON-RPC, with Retry-After")
}

async fn call_rpc(cx: RequestContext<Rpc>, Body(body): Body) -> Result<RpcResponse, HandlerError> {
    let Rpc { config, clients, .. } = cx.plugin();
    let incoming = match Incoming::parse(&body, config.batch_max) {
        Ok(incoming) => incoming,
        Err(error) => return Ok(RpcResponse::without_id(error)),
    };
    let weight = incoming.items().iter().map(|item| item.as_ref().map_or(1, weight)).sum();
    let network = cx.client_network();
    let _request = match clients.begin(&network, weight, cx.now_ms()) {
        Ok(request) => request,
        Err(refused) => return Ok(refusal(&incoming, refused.into())),
    };
    let answerer = Answerer::new(&cx, &network);
    Ok(match &incoming {
        Incoming::One(item) => match answer(&answerer, item).await {
            Some((id, outcome)) => RpcResponse::One(id, outcome),
            None => RpcResponse::Nothing,
        },
        Incoming::Batch(items) => {
            let mut answers: Vec<(String, Outcome)> = Vec::new();
            for part in items.chunks(BATCH_IN_FLIGHT_MAX) {
                let mut calls = Vec::new();
                for item in part {
                    calls.push(answer(&answerer, item));
                }
                answers.extend(join_all(calls).await.into_iter().flatten());
            }
            if answers.is_empty() { RpcResponse::Nothing } else { RpcResponse::Batch(answers) }
        }
    })
}

/// An unknown method costs something, too.
fn weight(request: &RpcRequest<'_>) -> u32 {
    method(&request.method).map_or(1, |method| method.weight)
}

/// A request that is refused as a whole has one answer, with the id of its only call.
fn refusal(incoming: &Incoming<'_>, error: RpcError) -> RpcResponse {
    match incoming {
        Incoming::One(Ok(RpcRequest { id: Some(id), .. })) => RpcResponse::One((*id).to_owned(), Err(error)),
        _ => RpcResponse::without_id(error),
    }
}

/// None for a notification.
async fn answer(answerer: &Answerer<'_>, item: &Result<RpcRequest<'_>, RpcError>) -> Option<(String, Outcome)> {
    let request = match item {
        Ok(request) => request,
        Err(error) => return Some(("null".to_owned(), Err(error.clone()))),
    };
    let outcome = answer_call(answerer, request).await;
    Some((request.id?.to_owned(), outcome))
}
