//! `POST /a/{slug}/a2a`: JSON-RPC in the dialects of A2A. Rule: the envelope is checked before the price, and whatever the body is, the
//! answer is one of JSON-RPC.

use super::{
    agent_call::{self, AgentCall},
    get_a2a_card::A2aVersion,
    rpc_response::{CallError, RpcAnswer, RpcFailure, RpcResponse},
    send_message::send_message,
    send_to_job::send_to_job,
};
use crate::{
    A2a,
    model::{BODY_BYTES_MAX, Dialect, Job, RpcCall, RpcError, RpcRequest, Task, TaskQuery, TaskState, job_of_task},
    store,
};
use plugin_api::{
    HandlerError, Path, RequestContext, Route,
    extract::{Body, HeaderName, HeaderValue},
    payment::Price,
    response::Forward,
};
use serde_json::Value;

pub fn route() -> Route<A2a> {
    let route = Route::post("/a/{slug}/a2a", call_a2a)
        .public()
        .priced("the agent's pricePerCall, paid to its owner; free with params.metadata.jobId", price_of_call)
        .summary("Send a message to an agent (A2A)")
        .description(
            "`tasks/send`, `message/send` and `SendMessage` call the agent's `<endpoint>/invoke`; `tasks/get` and `GetTask` know the \
             tasks that are jobs (`job-<id>`). The result has the shape of the version to which the method belongs. An error is \
             one of JSON-RPC; its status is 200 unless the body is no request or the agent cannot be called.",
        )
        .body_max_bytes(BODY_BYTES_MAX)
        .body_types(&["application/json"])
        .timeout_ms(Forward::HANDLER_TIMEOUT_MS)
        .per_minute(60)
        .endpoint("agentA2a")
        .briefing("Message an agent", "A2A: JSON-RPC tasks/send, message/send or SendMessage; metadata.jobId names an escrow job that paid")
        .example("POST /a/{slug}/a2a {jsonrpc, id, method, params}");
    let failures = [
        (400, "The body is no request of JSON-RPC"),
        (404, "No agent is called so"),
        (502, "The agent's endpoint or answer cannot be used"),
        (503, "Too many calls wait for the agent, or its price cannot be read"),
        (504, "The agent cannot be reached, or did not answer in time"),
        (508, "The agent's endpoint leads back to this gateway"),
    ];
    let route = route.response::<RpcAnswer>(200, "application/json", "A result, or an error of JSON-RPC");
    failures
        .into_iter()
        .fold(route, |route, (status, when)| route.response::<RpcFailure>(status, "application/json", when))
}

struct ContentType;

impl HeaderName for ContentType {
    const NAME: &'static str = "content-type";
}

/// What is refused costs nothing: the handler, which checks the same again, says why.
async fn price_of_call(
    cx: RequestContext<A2a>,
    Path(segment): Path<String>,
    content_type: HeaderValue<ContentType>,
    version: HeaderValue<A2aVersion>,
    Body(body): Body,
) -> Result<Price, HandlerError> {
    let request = RpcRequest::parse(content_type.0.as_deref(), version.0.as_deref(), &body);
    match request.call {
        Ok(RpcCall::Send(_, params)) if params.job.is_none() => {
            let call = AgentCall::prepare(&cx, &segment).await?;
            Ok(call.and_then(|call| call.agent.price()).unwrap_or_else(|_refused| Price::free()))
        }
        _ => Ok(Price::free()),
    }
}

async fn call_a2a(
    cx: RequestContext<A2a>,
    Path(segment): Path<String>,
    content_type: HeaderValue<ContentType>,
    version: HeaderValue<A2aVersion>,
    Body(body): Body,
) -> Result<RpcResponse, HandlerError> {
    let RpcRequest { id, call } = RpcRequest::parse(content_type.0.as_deref(), version.0.as_deref(), &body);
    drop(body);
    let outcome = match call {
        Ok(call) => match answer(&cx, &segment, call).await {
            Ok(result) => Ok(result),
            Err(CallError::Rpc(error)) => Err(error),
            Err(CallError::Host(error)) => return Err(error.into()),
        },
        Err(error) => Err(error),
    };
    Ok(RpcResponse { id, outcome })
}

async fn answer(cx: &RequestContext<A2a>, segment: &str, call: RpcCall) -> Result<Value, CallError> {
    match call {
        RpcCall::Send(dialect, params) => match params.job {
            Some(job) => send_to_job(cx, segment, dialect, &params, job).await,
            None => send_message(cx, segment, dialect, &params).await,
        },
        RpcCall::GetTask(dialect, query) => get_task(cx, segment, dialect, &query).await,
        RpcCall::CancelTask(query) => {
            let job = task_of_job(cx, segment, &query).await?;
            let how =
                "params.id: the task is a job of the escrow, where its agent cancels it and its client is refunded";
            let what = if job.task_state() == TaskState::Working { how } else { "params.id: the task has ended" };
            Err(RpcError::task_not_cancelable(what).into())
        }
    }
}

async fn get_task(
    cx: &RequestContext<A2a>,
    segment: &str,
    dialect: Dialect,
    query: &TaskQuery,
) -> Result<Value, CallError> {
    let job = task_of_job(cx, segment, query).await?;
    let state = job.task_state();
    let output = if state == TaskState::Completed { Some(store::jobs::output(&cx.db(), &job).await?) } else { None };
    let (id, at_ms, metadata) = (query.task_id.clone(), cx.now_ms(), job.metadata());
    Ok(Task { id, state, at_ms, sent: None, output, said: None, metadata }.render(dialect))
}

/// The job that a task is; no other task is kept.
async fn task_of_job(cx: &RequestContext<A2a>, segment: &str, query: &TaskQuery) -> Result<Job, CallError> {
    let agent = agent_call::find(cx, segment).await??;
    let job = match job_of_task(&query.task_id) {
        Some(job) => store::jobs::find(&cx.db(), job).await?,
        None => None,
    };
    let unknown = || RpcError::task_not_found("task not found: those of this agent are its jobs, as in job-7");
    Ok(job.filter(|job| job.agent_id == agent.agent_id).ok_or_else(unknown)?)
}
