//! A message that is a call of the agent, paid like one.

use super::{agent_call::AgentCall, rpc_response::CallError};
use crate::{
    A2a,
    error::A2aError,
    model::{Dialect, Invocation, Output, RpcError, SendParams, Task, TaskState, new_task_id},
};
use plugin_api::{
    HandlerError, RequestContext,
    response::{ForwardError, Forwarded},
};
use serde_json::{Map, Value, json};
use std::sync::atomic::Ordering::Relaxed;

pub async fn send_message(
    cx: &RequestContext<A2a>,
    segment: &str,
    dialect: Dialect,
    params: &SendParams,
) -> Result<Value, CallError> {
    let call = AgentCall::prepare(cx, segment).await??;
    call.agent.check_paid(cx.payment().is_some())?;
    let _place = cx.plugin().calls.begin(call.agent.agent_id.0).map_err(A2aError::from)?;
    let mut metadata = Map::new();
    metadata.insert("agentId".to_owned(), call.agent.agent_id.0.into());
    let named = || new_task_id(cx.now_ms(), cx.plugin().tasks.fetch_add(1, Relaxed));
    let task = Task {
        id: params.task_id.clone().unwrap_or_else(named),
        state: TaskState::Working,
        at_ms: cx.now_ms(),
        sent: Some(params),
        output: None,
        said: None,
        metadata,
    };
    Ok(ask(cx, call, task, params).await?.into_send_result(dialect))
}

/// Calls the agent. The task ends with what it answers.
pub async fn ask<'m>(
    cx: &RequestContext<A2a>,
    call: AgentCall,
    task: Task<'m>,
    params: &SendParams,
) -> Result<Task<'m>, CallError> {
    let invocation = serde_json::to_vec(&Invocation::new(&task.id, &params.parts));
    let body = invocation.map_err(|error| RpcError::invalid_params(format!("params: {error}")))?;
    let answer = call.json().send(cx, body.into()).await?;
    Ok(ended(cx, task, &answer)?)
}

fn ended<'m>(cx: &RequestContext<A2a>, task: Task<'m>, answer: &Forwarded) -> Result<Task<'m>, HandlerError<A2aError>> {
    if answer.coding.is_some() {
        let compressed = "it is compressed, which nobody asked for";
        return Err(A2aError::from(ForwardError::BadAnswer(compressed.to_owned())).into());
    }
    let (status, at_ms) = (answer.status, cx.now_ms());
    let said = Output::of_bytes(&answer.body);
    if answer.is_success() {
        return Ok(Task { state: TaskState::Completed, at_ms, output: Some(said), ..task });
    }
    cx.release_payment(&format!("the agent answered {status}"));
    let mut metadata = task.metadata;
    metadata.insert("upstreamStatus".to_owned(), status.into());
    metadata.insert("paymentReleased".to_owned(), json!(cx.payment().is_some()));
    let said = match said {
        Output::Text(text) => text,
        Output::Data(data) => data.to_string(),
    };
    Ok(Task { state: TaskState::Failed, at_ms, said: Some(said), metadata, ..task })
}
