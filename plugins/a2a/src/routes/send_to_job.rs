//! A message about an escrow job, which is paid already: a call of the agent while the job is open, then what it delivered.

use super::{
    agent_call::{self, AgentCall},
    rpc_response::CallError,
    send_message::ask,
};
use crate::{
    A2a,
    error::A2aError,
    model::{CallableAgent, Dialect, Envelope, Job, JobStatus, RpcError, SendParams, Task, TaskState},
    store::{self, job_calls::Begun},
};
use plugin_api::{HandlerError, HostErrorCode, JobId, RequestContext};
use serde_json::Value;

pub async fn send_to_job(
    cx: &RequestContext<A2a>,
    segment: &str,
    dialect: Dialect,
    params: &SendParams,
    job: JobId,
) -> Result<Value, CallError> {
    let agent = agent_call::find(cx, segment).await??;
    let found = store::jobs::find(&cx.db(), job).await?.filter(|job| job.agent_id == agent.agent_id);
    let job = found.ok_or_else(|| RpcError::invalid_params("params.metadata.jobId: this agent has no such job"))?;
    let task = Task {
        id: params.task_id.clone().unwrap_or_default(),
        state: TaskState::Working,
        at_ms: cx.now_ms(),
        sent: Some(params),
        output: None,
        said: None,
        metadata: job.metadata(),
    };
    let task = match job.status {
        JobStatus::Open => call_for_job(cx, agent, &job, task, params).await?,
        JobStatus::Delivered | JobStatus::Completed | JobStatus::Resolved => {
            let output = store::jobs::output(&cx.db(), &job).await?;
            Task { state: TaskState::Completed, output: Some(output), ..task }
        }
        JobStatus::None | JobStatus::Refunded | JobStatus::Disputed => {
            let status = job.status;
            return Err(RpcError::invalid_params(format!("params.metadata.jobId: the job is {status:?}")).into());
        }
    };
    Ok(task.into_send_result(dialect))
}

/// Calls the agent, unless it was called often enough: the task then waits for the delivery.
async fn call_for_job<'m>(
    cx: &RequestContext<A2a>,
    agent: CallableAgent,
    job: &Job,
    task: Task<'m>,
    params: &SendParams,
) -> Result<Task<'m>, CallError> {
    let signed_ts = match &params.envelope {
        Some(envelope) => Some(check_envelope(cx, envelope, job, params).await?),
        None => None,
    };
    // What fails without a call does not count as one.
    let call = AgentCall::to(cx, agent)?.for_job(cx, job.job_id);
    let _place = cx.plugin().calls.begin(call.agent.agent_id.0).map_err(A2aError::from)?;
    let id = job.job_id;
    let begun = cx
        .write(async move |tx| Ok::<_, HandlerError<A2aError>>(store::job_calls::begin(tx, id, signed_ts).await?))
        .await?;
    let until_s = match begun {
        Begun::Replayed => return Err(RpcError::invalid_params("params.metadata.envelope: it was used before").into()),
        Begun::InFlight | Begun::UsedUp => return Ok(task),
        Begun::Signed => None,
        Begun::Counted { until_s } => Some(until_s),
    };
    let answered = ask(cx, call, task, params).await;
    if let Some(until_s) = until_s {
        // Not the request's own write, which is committed. The call ends by itself in time, and its answer counts.
        let ended = cx.plugin_context().write(async move |tx| store::job_calls::end(tx, id, until_s).await).await;
        if let Err(error) = ended {
            cx.warn(&format!("the end of a call for job {id} is not noted: {error}"));
        }
    }
    answered
}

/// The time of the signature, when the job's client made it for this message.
async fn check_envelope(
    cx: &RequestContext<A2a>,
    envelope: &Envelope,
    job: &Job,
    params: &SendParams,
) -> Result<i64, CallError> {
    let wrong = |what: &str| CallError::Rpc(RpcError::invalid_params(format!("params.metadata.envelope: {what}")));
    if envelope.address != job.client {
        return Err(wrong("it is not the job's client that signed"));
    }
    if !envelope.is_fresh(cx.now_s()) {
        return Err(wrong("ts is more than five minutes away"));
    }
    let message = Value::Object(params.message.clone());
    for text in envelope.signed_texts(&cx.environment().brand, job.job_id, &message) {
        match cx.recover_text(&text, &envelope.sig).await {
            Ok(signer) if signer == job.client => return Ok(envelope.ts),
            Ok(_) => {}
            Err(error) if error.is(HostErrorCode::Invalid) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Err(wrong("the signature is not one of the client under this job and message"))
}
