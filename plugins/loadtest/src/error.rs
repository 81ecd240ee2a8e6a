//! Errors of the routes: texts, statuses and codes.

use plugin_api::ApiError;

#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum AddressError {
    #[api(
        400,
        "bad_address",
        "{0:?} is no address: 0x and 40 hex digits are needed",
        hint = "the path ends with an address: /api/loadtest/address/0x…"
    )]
    Malformed(String),
}

/// Why the runner does not do what somebody wants.
#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum RunnerError {
    #[api(
        503,
        "disabled",
        "no operators of the load test are configured",
        hint = "the operator of the gateway sets `operators` in [plugins.loadtest]"
    )]
    NoOperators,
    #[api(
        503,
        "disabled",
        "this gateway does not run the load test",
        hint = "the operator sets `runner` in [plugins.loadtest]"
    )]
    Off,
    #[api(
        403,
        "not_operator",
        "only operators control the load test",
        hint = "sign with an address of `operators` in [plugins.loadtest]"
    )]
    NotOperator,
    #[api(409, "not_started", "the load test was never started", hint = "send {\"do\": \"start\"} first")]
    NotStarted,
}
