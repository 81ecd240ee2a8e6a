//! Errors of the export: texts, statuses and codes.

use plugin_api::{AgentId, ApiError};

#[derive(Debug, PartialEq, Eq, ApiError)]
#[api(400, "bad_request", hint = "see the parameters of get_agent_audit in /api/openapi.json")]
pub enum AuditError {
    #[api("{0}: a block below 1000000000 or Unix seconds are needed, as a whole number")]
    Bound(&'static str),
    #[api("sign: it is root or lines")]
    Sign,
    #[api("after: copy it from the member `next` of the footer")]
    After,
    #[api(404, "not_found", "unknown agent {0}", hint = "GET /api/agents lists the agents there are")]
    UnknownAgent(AgentId),
    #[api(
        429,
        "export_running",
        "your network is receiving another export",
        hint = "take one export after the other",
        header("retry-after" = retry_after_s)
    )]
    Running { retry_after_s: u32 },
}
