//! Errors of the routes: texts, statuses and codes.

use plugin_api::{AgentId, ApiError, ErrorSpec};

const NOT_FOUND: ErrorSpec = ErrorSpec::new(
    404,
    "not_found",
    "GET /api/agents lists the agents, GET /api/referrals/leaderboard those who brought some",
);

/// Why a claim is refused.
#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum ClaimError {
    #[api(NOT_FOUND, "unknown agent {0}")]
    UnknownAgent(AgentId),
    #[api(
        403,
        "not_owner",
        "agent {0} belongs to somebody else",
        hint = "sign with the wallet that owns the new agent"
    )]
    NotOwner(AgentId),
    #[api(400, "self_referral", "an agent cannot refer itself", hint = "name the agent that brought yours as `ref`")]
    SelfReferral,
    #[api(
        400,
        "same_owner",
        "both agents have the same owner",
        hint = "only an agent of another owner can have brought yours"
    )]
    SameOwner,
    #[api(
        409,
        "too_late",
        "agent {agent} registered more than {days} days ago",
        hint = "a referral is claimed soon after the registration, and not later"
    )]
    TooLate { agent: AgentId, days: u32 },
    #[api(
        409,
        "already_referred",
        "agent {0} has a referral",
        hint = "GET /api/referrals/{agentId} shows it: it is recorded once and never changes"
    )]
    AlreadyReferred(AgentId),
}

/// A referral that does not exist.
#[derive(Debug, PartialEq, Eq, ApiError)]
#[api(NOT_FOUND, "agent {0} has no referral")]
pub struct UnknownReferral(pub AgentId);

/// Why an operator's request is refused.
#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum ReleaseError {
    #[api(
        503,
        "disabled",
        "no operators are configured",
        hint = "the operator of the gateway sets `operators` in [plugins.referrals]"
    )]
    NoOperators,
    #[api(
        403,
        "not_operator",
        "only operators release payouts",
        hint = "sign with an address of `operators` in [plugins.referrals]"
    )]
    NotOperator,
    #[api(NOT_FOUND, "agent {0} has no referral")]
    Unknown(AgentId),
    #[api(
        409,
        "nothing_to_release",
        "{0}",
        hint = "GET /api/referrals/{agentId} shows the state, and in `reason` what an operator can do"
    )]
    Nothing(&'static str),
}
