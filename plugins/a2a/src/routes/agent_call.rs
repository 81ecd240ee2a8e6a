//! A call of an agent: which agent, whether it can be called, and the call itself.

use crate::{A2a, error::A2aError, model::CallableAgent, store};
use plugin_api::{
    HandlerError, HostError, JobId, RequestContext,
    contracts::registry::AgentName,
    format,
    handles::FfiBytes,
    response::{Forward, Forwarded},
};
use std::{collections::BTreeMap, time::Duration};

const NAME_CHARS_SHOWN: usize = 80;

/// An agent that can be called now.
pub struct AgentCall {
    pub agent: CallableAgent,
    forward: Forward,
}

impl AgentCall {
    /// Checks all that can be known before the call: for the price too, so that nobody pays for a call that cannot be made. The outer
    /// error is the gateway's, the inner one the answer.
    pub async fn prepare(cx: &RequestContext<A2a>, segment: &str) -> Result<Result<Self, A2aError>, HostError> {
        Ok(find(cx, segment).await?.and_then(|agent| Self::to(cx, agent)))
    }

    pub fn to(cx: &RequestContext<A2a>, agent: CallableAgent) -> Result<Self, A2aError> {
        let timeout = Duration::from_secs(cx.plugin().config.answer_timeout_s.into());
        let forward = Forward::to(cx, &agent.endpoint)?.timeout(timeout);
        cx.plugin().calls.check(agent.agent_id.0)?;
        Ok(Self { agent, forward })
    }

    /// A call for a job, which the agent is told.
    pub fn for_job(self, cx: &RequestContext<A2a>, job: JobId) -> Self {
        Self { forward: self.forward.header(cx, "Job-Id", job.to_string()), ..self }
    }

    /// A call whose body is JSON that the plugin made.
    pub fn json(self) -> Self {
        Self { forward: self.forward.json(), ..self }
    }

    /// The caller holds a place among the calls of the agent.
    pub async fn send(self, cx: &RequestContext<A2a>, body: FfiBytes) -> Result<Forwarded, HandlerError<A2aError>> {
        let Self { agent, forward } = self;
        let mut forward = forward.header(cx, "Agent-Id", agent.agent_id.to_string());
        if let Some(secret) = cx.plugin().config.secret_for(agent.agent_id, &agent.endpoint) {
            forward = forward.header(cx, "Gateway-Secret", secret);
        }
        let answered = forward.send(cx, body).await;
        let outcome = match &answered {
            Ok(answer) if answer.is_success() => "done",
            Ok(_) => "refused",
            Err(_) => "failed",
        };
        cx.count("agent_calls", &BTreeMap::from([("outcome", outcome)]), 1);
        answered
    }
}

/// The agent that a segment of the path names.
pub async fn find(cx: &RequestContext<A2a>, segment: &str) -> Result<Result<CallableAgent, A2aError>, HostError> {
    let found = match AgentName::parse(segment) {
        Some(name) => store::agents::find_callable(&cx.db(), &name).await?,
        None => None,
    };
    Ok(found.ok_or_else(|| unknown(segment)))
}

pub fn unknown(segment: &str) -> A2aError {
    A2aError::UnknownAgent(format::excerpt(segment, NAME_CHARS_SHOWN))
}
