//! `POST /a/{slug}/invoke`: a call of an agent, passed on as it is when it is paid, or free.

use super::agent_call::AgentCall;
use crate::{A2a, error::A2aError, model::BODY_BYTES_MAX};
use plugin_api::{
    HandlerError, JsonSchema, Path, RequestContext, Route,
    extract::Body,
    payment::Price,
    response::{Forward, Forwarded},
};
use serde_json::Value;

pub fn route() -> Route<A2a> {
    Route::post("/a/{slug}/invoke", invoke_agent)
        .public()
        .priced("the agent's pricePerCall, paid to its owner", price_of_invoke)
        .summary("Call an agent")
        .description(
            "The body goes to `<endpoint>/invoke` of the agent as it is, with its content type. The answer has the agent's status. Its \
             content type is kept if it is JSON, plain text or NDJSON. The agent has 60 s and 1 MiB for it.",
        )
        .body_max_bytes(BODY_BYTES_MAX)
        .body_types(&["application/json", "application/octet-stream", "text/plain"])
        .timeout_ms(Forward::HANDLER_TIMEOUT_MS)
        .per_minute(60)
        .endpoint("agentInvoke")
        .briefing("Call an agent", "the body goes to the agent as it is; 402 says what a call costs and how it is paid")
        .example("POST /a/{slug}/invoke {input}")
        .response::<AgentAnswer>(200, "*/*", "What the agent answers")
}

/// What the agent answers
#[derive(JsonSchema)]
#[schemars(inline, transparent)]
#[expect(dead_code, reason = "describes a body of any type")]
struct AgentAnswer(Value);

async fn price_of_invoke(
    cx: RequestContext<A2a>,
    Path(segment): Path<String>,
) -> Result<Price, HandlerError<A2aError>> {
    Ok(AgentCall::prepare(&cx, &segment).await??.agent.price()?)
}

async fn invoke_agent(
    cx: RequestContext<A2a>,
    Path(segment): Path<String>,
    Body(body): Body,
) -> Result<Forwarded, HandlerError<A2aError>> {
    let call = AgentCall::prepare(&cx, &segment).await??;
    call.agent.check_paid(cx.payment().is_some())?;
    let _place = cx.plugin().calls.begin(call.agent.agent_id.0).map_err(A2aError::from)?;
    call.send(&cx, body).await
}
