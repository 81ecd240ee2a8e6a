//! Errors of the routes: texts, statuses and codes, in the order in which a request is checked.

use crate::model::POW_CHARS_MAX;
use plugin_api::{ApiError, Hash256, Wei};

#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum FaucetError {
    #[api(
        503,
        "disabled",
        "the faucet is off: {reason}",
        hint = "GET /api/status says what is off on this gateway",
        member("disabled" = disabled),
        member("reason" = reason)
    )]
    Disabled { disabled: bool, reason: String },
    #[api(
        400,
        "bad_address",
        "address: {0}",
        hint = "send the address that is to get the coins: {{\"address\": \"0x…\"}}"
    )]
    Address(&'static str),
    #[api(
        429,
        "faucet_cooldown",
        "the address has got its drip: one in 24 hours",
        hint = "GET /api/tx/{hash} says what became of the last one, whose hash is txHash",
        header("retry-after" = retry_after_s),
        member("txHash" = tx)
    )]
    Cooldown { retry_after_s: i64, tx: Option<Hash256> },
    #[api(
        429,
        "faucet_ip_limit",
        "your network has got all its drips of this day",
        hint = "the limit begins anew at midnight UTC",
        header("retry-after" = retry_after_s)
    )]
    IpLimit { retry_after_s: i64 },
    #[api(
        503,
        "faucet_daily_cap",
        "the faucet has given all that it may give by now",
        hint = "GET /api/faucet says how much is used; repeat the request after retry-after seconds",
        header("retry-after" = retry_after_s)
    )]
    DailyCap { retry_after_s: i64 },
    #[api(
        400,
        "faucet_pow",
        "pow: the puzzle with {bits} bits is not solved, or its answer has more than {POW_CHARS_MAX} characters",
        hint = "GET /api/faucet says in pow.how what to send; the number of bits follows the use of the faucet",
        member("bits" = bits)
    )]
    Pow { bits: u32 },
    #[api(
        503,
        "faucet_reserve",
        "the faucet is empty: its account keeps {reserve} wei",
        hint = "its operator has to fill it up; ask for coins elsewhere meanwhile"
    )]
    Reserve { reserve: Wei },
    #[api(
        400,
        "faucet_not_needed",
        "the address has {balance} wei already, and a drip is {drip}",
        hint = "spend what it has"
    )]
    NotNeeded { balance: Wei, drip: Wei },
    #[api(
        400,
        "faucet_used_key",
        "the address has sent transactions: only fresh ones get coins",
        hint = "use a new key that has sent nothing yet"
    )]
    UsedKey,
    #[api(
        503,
        "unavailable",
        "the drip is recorded and waits to be signed",
        hint = "repeat the same request: it joins the drip, which is sent once",
        header("retry-after" = retry_after_s)
    )]
    NotSigned { retry_after_s: i64 },
    #[api(
        503,
        "unavailable",
        "the drip was not sent: {reason}",
        hint = "what it used of the limits is given back; repeat the request in a minute"
    )]
    NotSent { reason: String },
}
