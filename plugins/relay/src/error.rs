//! Errors of the routes: texts, statuses and codes.

use crate::model::GAS_MAX;
use plugin_api::{Address, ApiError};

#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum RelayError {
    #[api(
        503,
        "disabled",
        "the relay is off: {reason}",
        hint = "GET /api/status says what is off on this gateway",
        member("disabled" = disabled),
        member("reason" = reason)
    )]
    Disabled { disabled: bool, reason: String },
    #[api(400, "bad_request", "deadline: it must be in the future (Unix seconds)", hint = "sign with a later deadline")]
    Deadline,
    #[api(400, "bad_address", "owner: nobody has the key of the zero address", hint = "name the account's owner")]
    ZeroOwner,
    #[api(
        403,
        "target_not_allowed",
        "to: {to} is no contract of the network",
        hint = "GET /api/relay lists the allowed targets"
    )]
    Target { to: Address },
    #[api(
        404,
        "not_found",
        "account: there is no contract at {account}",
        hint = "POST /api/accounts/create makes an account"
    )]
    UnknownAccount { account: Address },
    #[api(
        403,
        "target_not_allowed",
        "account: {account} was not created by the factory",
        hint = "POST /api/accounts/create makes an account whose calls are sponsored"
    )]
    ForeignAccount { account: Address },
    #[api(
        429,
        "rate_limited",
        "{what}: the limit of the day is reached",
        hint = "the limits begin anew at midnight UTC; GET /api/relay says what they are",
        header("retry-after" = retry_after_s)
    )]
    Limit { what: &'static str, retry_after_s: i64 },
    #[api(
        503,
        "daily_cap",
        "{what}: the network's limit of the day is reached",
        hint = "the limits begin anew at midnight UTC; GET /api/relay says what they are",
        header("retry-after" = retry_after_s)
    )]
    DailyCap { what: &'static str, retry_after_s: i64 },
    #[api(
        429,
        "rate_limited",
        "another call of the account with nonce {nonce} is on its way",
        hint = "wait until it is in a block, and sign the next call with the next nonce",
        header("retry-after" = retry_after_s)
    )]
    Pending { nonce: String, retry_after_s: i64 },
    #[api(
        400,
        "bad_request",
        "the call would fail: {reason}",
        hint = "GET /api/relay says what is signed: the account's present nonce, by its owner or a session key; nothing was sent or counted"
    )]
    WouldFail { reason: String },
    #[api(
        400,
        "bad_request",
        "the call needs {gas} gas, and at most {GAS_MAX} are sponsored",
        hint = "make a smaller call, or send it yourself"
    )]
    TooMuchGas { gas: u64 },
    #[api(
        503,
        "unavailable",
        "the transaction is recorded and waits to be signed",
        hint = "repeat the same request: it joins the transaction, which is sent once",
        header("retry-after" = retry_after_s)
    )]
    NotSigned { retry_after_s: i64 },
}
